#include "tools/binary/check_binary.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace terrane::tools {
namespace {

base::Result<> check_kind(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return base::errno_error(fmt::format("cannot read {}", path));
  Elf64_Ehdr head{};
  bool whole = ::read(file.get(), &head, sizeof head) == sizeof head;
  if (!whole || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return base::error(
        "{} is no executable file (ELF): give the program itself, not a script "
        "that starts it",
        path);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64)
    return base::error("{} is for another machine: locked instructions are known of x86-64 alone",
                       path);
  return {};
}

// objdump under way. Owns the process.
class Disassembler {
 public:
  explicit Disassembler(const std::string& path) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      error_ = errno;
      return;
    }
    const char* words[] = {"objdump", "-d",         "-C",   "--no-show-raw-insn",
                           "--",      path.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    error_ = ::posix_spawnp(&child_, words[0], &actions, nullptr, const_cast<char* const*>(words),
                            environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    out_ = ::fdopen(ends[0], "r");
  }
  ~Disassembler() {
    if (out_ != nullptr) std::fclose(out_);
    std::free(line_);
  }
  Disassembler(const Disassembler&) = delete;

  // errno; 0: it runs.
  int error() const { return error_; }
  bool next(std::string_view& line) {
    ssize_t bytes = ::getline(&line_, &room_, out_);
    if (bytes < 0) return false;
    line = {line_, static_cast<std::size_t>(bytes)};
    if (line.ends_with('\n')) line.remove_suffix(1);
    return true;
  }
  // After the last line: whether it has done its work.
  bool succeeded() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0)
      if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t child_ = -1;
  int error_ = 0;
  std::FILE* out_ = nullptr;
  char* line_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace

base::Result<std::vector<LockedFunction>> locked_functions(const std::string& path,
                                                           SharedScope scope) {
  auto kind = check_kind(path);
  if (!kind) return kind.error();
  Disassembler disassembler(path);
  if (disassembler.error() == ENOENT)
    return base::error("there is no objdump, which reads {}: install the package binutils", path);
  if (disassembler.error() != 0)
    return base::error("cannot start objdump: {}", std::strerror(disassembler.error()));
  LockedCode code(scope);
  for (std::string_view line; disassembler.next(line);) code.add_line(line);
  if (!disassembler.succeeded()) return base::error("objdump cannot read {}", path);
  return code.functions();
}

std::vector<std::string> describe(const std::string& path,
                                  const std::vector<LockedFunction>& functions, SharedScope scope) {
  std::vector<std::string> lines;
  if (functions.empty()) return lines;
  lines.push_back(fmt::format(
      "{}: locked instructions in {} function{}, which lose updates between nodes{}:", path,
      functions.size(), functions.size() == 1 ? "" : "s",
      scope == SharedScope::kRegions ? " on pages of the default protocol" : ""));
  for (const LockedFunction& function : functions) {
    std::string more = function.count > 1 ? fmt::format(", and {} more", function.count - 1) : "";
    lines.push_back(
        fmt::format("  {}: {} at 0x{}{}", function.name, function.first, function.address, more));
  }
  if (scope == SharedScope::kProgram) {
    lines.push_back(
        "compile the program with -fno-inline-atomics (gcc 11 and later), or give "
        "--allow-inline-atomics where none of them is used by threads of two nodes");
    return lines;
  }
  lines.push_back(
      "for each that works on shared memory: allocate that memory with TERRANE_PROTOCOL_SC, or "
      "compile the function with -fno-inline-atomics");
  return lines;
}

std::string describe_library(const std::string& path,
                             const std::vector<LockedFunction>& functions) {
  constexpr std::size_t kNamed = 3;
  if (functions.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < functions.size() && i < kNamed; ++i)
    names += (i == 0 ? "" : ", ") + functions[i].name;
  if (functions.size() > kNamed) names += fmt::format(" and {} more", functions.size() - kNamed);
  return fmt::format(
      "{}, a library of the program, has locked instructions, which lose updates between nodes "
      "({}): build the library with -fno-inline-atomics (gcc 11 and later), or give "
      "--allow-inline-atomics where none of them is used by threads of two nodes",
      path, names);
}

}  // namespace terrane::tools
