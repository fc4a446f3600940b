#include "frontend/threads/execute.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/own_process.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/executing.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/output.h"
#include "frontend/threads/polling.h"
#include "frontend/threads/signal_offers.h"
#include "frontend/threads/state_calls.h"
#include "platform/preload_variables.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::string_view kOpenFiles = "/proc/self/fd/";

using Texts = std::vector<std::string>;

// What a node is to become. In private memory, which the kernel reads while it executes.
struct Execution {
  std::string path;
  Texts arguments, environment;
};

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

const std::string* find(const Texts& variables, std::string_view name) {
  for (const std::string& one : variables)
    if (name_of(one) == name) return &one;
  return nullptr;
}

std::string value_of(const Texts& variables, std::string_view name) {
  const std::string* found = find(variables, name);
  return found == nullptr ? std::string() : found->substr(name.size() + 1);
}

void put(Texts& variables, std::string_view name, std::string_view value) {
  std::erase_if(variables, [&](const std::string& one) { return name_of(one) == name; });
  variables.push_back(std::string(name).append("=").append(value));
}

Texts texts_of(char* const* list) {
  Texts all;
  while (list != nullptr && *list != nullptr) all.emplace_back(*list++);
  return all;
}

std::vector<char*> pointers(Texts& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// The variables that this process has begun with, those that have been taken out among them.
Texts first_variables() {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(file)), {});
  Texts variables;
  for (std::size_t at = 0; at < all.size(); at += variables.back().size() + 1)
    variables.emplace_back(all.c_str() + at);
  return variables;
}

std::string first_bytes(const std::string& path, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// The file that the kernel runs: of a script its interpreter.
std::string file_to_run(std::string path) {
  constexpr int kMostScripts = 4;
  for (int i = 0; i < kMostScripts; ++i) {
    std::string line = first_bytes(path, 256);
    if (!line.starts_with("#!")) break;
    std::size_t begin = line.find_first_not_of(" \t", 2);
    path = line.substr(begin, line.find_first_of(" \t\n", begin) - begin);
  }
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) == nullptr ? path : real;
}

// Whether the loader puts our library in front of it.
bool is_dynamic(const std::string& path) {
  std::string bytes = first_bytes(path, 4096);
  Elf64_Ehdr head{};
  if (bytes.size() < sizeof head) return false;
  std::memcpy(&head, bytes.data(), sizeof head);
  bool is_elf = std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
  if (!is_elf || head.e_ident[EI_CLASS] != ELFCLASS64) return false;
  for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    std::uint64_t at = head.e_phoff + i * sizeof part;
    if (at + sizeof part > bytes.size()) return false;
    std::memcpy(&part, bytes.data() + at, sizeof part);
    if (part.p_type == PT_INTERP) return true;
  }
  return false;
}

// Has the next program find its place in the job, as this one has found it.
void add_job(Execution& execution) {
  Texts first = first_variables();
  std::string library = value_of(first, platform::kPreloadedLibraryVariable);
  std::string preload = value_of(execution.environment, "LD_PRELOAD");
  put(execution.environment, "LD_PRELOAD", preload.empty() ? library : preload + ":" + library);
  for (const std::string& one : first) {
    std::string_view name = name_of(one);
    bool is_ours = name.starts_with("TERRANE_") || one == "LD_BIND_NOW=terrane";
    if (is_ours && find(execution.environment, name) == nullptr)
      execution.environment.push_back(one);
  }
  put(execution.environment, platform::kPreloadedProgramVariable, file_to_run(execution.path));
}

// The socket of this node's place; -1: `terrane run` has not started it.
int place_socket() {
  std::string number = value_of(first_variables(), "TERRANE_BOOTSTRAP_FD");
  return number.empty() ? -1 : std::atoi(number.c_str());
}

// Whether another program can find this one's place in the job.
bool has_place() {
  return place_socket() >= 0 &&
         !value_of(first_variables(), platform::kPreloadedLibraryVariable).empty();
}

// False: errno.
bool can_be_executed(const char* path) {
  struct stat facts {};
  if (next<"access">(::access)(path, X_OK) != 0 || next<"stat">(::stat)(path, &facts) != 0)
    return false;
  errno = EACCES;
  return S_ISREG(facts.st_mode);
}

// The name by which other nodes find a file that this process names by one of its descriptors; any
// other path itself. Empty: it has none, as a file that was deleted.
std::string common_name(const std::string& path) {
  if (!path.starts_with(kOpenFiles)) return path;
  char real[PATH_MAX];
  struct stat meant {
  }, found{};
  if (::realpath(path.c_str(), real) == nullptr || next<"stat">(::stat)(real, &found) != 0 ||
      next<"stat">(::stat)(path.c_str(), &meant) != 0)
    return {};
  bool is_same = meant.st_dev == found.st_dev && meant.st_ino == found.st_ino;
  return is_same ? real : std::string();
}

struct Found {
  int error = 0;  // it cannot be executed
  std::string path;
  bool is_for_all_nodes = false;
};

// On the thread's private stack, which the kernel may write to.
Found find(const char* path) {
  if (!can_be_executed(path)) return {.error = errno};
  std::string name = common_name(path);
  if (name.empty()) return {.path = path};
  bool is_dynamic_file = is_dynamic(file_to_run(name));
  return {.path = std::move(name), .is_for_all_nodes = is_dynamic_file};
}

// What the program has not flushed is lost if it executes for the job, as it is by itself.
[[noreturn]] void leave_and_execute(Execution& execution, bool is_for_job) {
  Program& program = *Program::get();
  if (is_for_job) {
    add_job(execution);
    next<"fcntl">(::fcntl)(place_socket(), F_SETFD, 0);
  } else {
    flush_output();
  }
  stop_watching();
  program.node().leave();
  std::vector<char*> arguments = pointers(execution.arguments);
  std::vector<char*> environment = pointers(execution.environment);
  next<"execve">(::execve)(execution.path.c_str(), arguments.data(), environment.data());
  base::log("cannot execute {}: {}", execution.path, std::strerror(errno));
  next<"_exit">(::_exit)(126);
  __builtin_unreachable();
}

// In shared memory, for the other nodes: the texts one behind the other.
struct Message {
  std::uint32_t arguments, variables;
  char texts[];
};

Message* message_of(const Execution& execution) {
  std::string texts = execution.path + '\0';
  for (const Texts* all : {&execution.arguments, &execution.environment})
    for (const std::string& one : *all) texts += one + '\0';
  auto* message =
      static_cast<Message*>(Program::get()->heap().allocate(sizeof(Message) + texts.size()));
  if (message == nullptr) return nullptr;
  message->arguments = static_cast<std::uint32_t>(execution.arguments.size());
  message->variables = static_cast<std::uint32_t>(execution.environment.size());
  std::memcpy(message->texts, texts.data(), texts.size());
  return message;
}

Execution execution_of(const Message& message) {
  Execution execution{message.texts, {}, {}};
  const char* at = message.texts + execution.path.size() + 1;
  for (std::uint32_t i = 0; i < message.arguments + message.variables; ++i) {
    Texts& to = i < message.arguments ? execution.arguments : execution.environment;
    to.emplace_back(at);
    at += to.back().size() + 1;
  }
  return execution;
}

class ProgramExecuting final : public Executing {
 public:
  ProgramExecuting() { set(this); }

  bool fails(const char* path, char* const* arguments, char* const* environment) override {
    Program& program = *Program::get();
    if (!is_in_program() || base::own_process() != process_) return false;
    if (program.self() != 0) {
      refused<"execve", int>(
          ENOTSUP,
          "a thread of another node than 0 cannot make the program another one; `main` can");
      return true;
    }
    Private ours;
    Found found = runtime::on_own_stack([=] { return find(path); });
    if (found.error != 0) {
      errno = found.error;
      return true;
    }
    auto* execution = new Execution{found.path, texts_of(arguments), texts_of(environment)};
    bool is_for_job =
        program.control().has_made_threads == 0 && has_place() && found.is_for_all_nodes;
    const Message* message = is_for_job ? message_of(*execution) : nullptr;
    Command command{message == nullptr ? Command::kLeave : Command::kExecute, 0};
    command.value = reinterpret_cast<std::uintptr_t>(message);
    end_offers();
    for (std::uint32_t n = 1; n < program.node().nodes(); ++n) program.send(n, command);
    leave_and_execute(*execution, message != nullptr);
  }

 private:
  const pid_t process_ = base::own_process();
};

// The file of a descriptor, or one in that folder.
std::string name_in(int folder, const char* path) {
  std::string name = std::string(kOpenFiles) + std::to_string(folder);
  return *path == '\0' ? name : name + "/" + path;
}

bool is_link(const char* path) {
  struct stat facts {};
  return ::lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);
}

}  // namespace

void begin_executing() {
  static auto* executing = new ProgramExecuting();
  static_cast<void>(executing);
}

void serve_execution(const Command& command) {
  auto* execution = new Execution(execution_of(*reinterpret_cast<const Message*>(command.value)));
  leave_and_execute(*execution, true);
}

}  // namespace terrane::frontend::threads

using namespace terrane::frontend;
using namespace terrane::frontend::threads;

#pragma GCC visibility push(default)
extern "C" {

int fexecve(int fd, char* const* arguments, char* const* environment) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("fexecve", fd);
  if (!is_in_program()) return next<"fexecve">(::fexecve)(fd, arguments, environment);
  if (fd < 0 || environment == nullptr) {
    errno = EINVAL;
    return -1;
  }
  if (next<"fcntl">(::fcntl)(fd, F_GETFD) < 0) return -1;
  return execve(name_in(fd, "").c_str(), arguments, environment);
}

int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
             int flags) noexcept {
  if (is_elsewhere(folder)) return Elsewhere::get()->refuse("execveat", folder);
  if (!is_in_program())
    return next<"execveat">(::execveat)(folder, path, arguments, environment, flags);
  constexpr int kKnown = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
  bool is_empty = *path == '\0';
  if ((flags & ~kKnown) != 0) errno = EINVAL;
  if (is_empty && (flags & AT_EMPTY_PATH) == 0) errno = ENOENT;
  if ((flags & ~kKnown) != 0 || (is_empty && (flags & AT_EMPTY_PATH) == 0)) return -1;
  bool is_in_folder = *path != '/' && folder != AT_FDCWD;
  if (is_in_folder && next<"fcntl">(::fcntl)(folder, F_GETFD) < 0) return -1;
  std::string name = is_in_folder ? name_in(folder, path) : is_empty ? "." : path;
  if (!is_empty && (flags & AT_SYMLINK_NOFOLLOW) != 0 && is_link(name.c_str())) {
    errno = ELOOP;
    return -1;
  }
  return execve(name.c_str(), arguments, environment);
}

}  // extern "C"
#pragma GCC visibility pop
