#include "tools/launch/host/spawn.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

#include "base/log.h"
#include "bootstrap/debugger_wait.h"
#include "bootstrap/message.h"
#include "platform/preload_variables.h"
#include "platform/process_limits.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/library_path.h"

namespace terrane::tools {
namespace {

using bootstrap::kJobVariable;
using bootstrap::kNodesVariable;
using bootstrap::kNodeVariable;
using bootstrap::kSocketVariable;

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (std::string& text : strings) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

void put_at(int fd, int wanted) {
  if (fd >= 0) ::dup2(fd, wanted);
}

// The death signal is set first and the parent looked at after it: whichever way the launcher dies,
// one of them works.
void tie_to_parent(pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExitFailure);
}

// Functions and virtual tables lie at the same addresses in all nodes, so that pointers to them
// mean the same everywhere.
void fix_addresses(const NodeStart& start) {
  unsigned long now = static_cast<unsigned long>(::personality(0xffffffff));
  if (::personality(now | ADDR_NO_RANDOMIZE) >= 0) return;
  if (start.plan->verbose && start.speaks_for_host)
    base::log("the addresses of functions may differ from node to node: personality(2): {}",
              std::strerror(errno));
}

[[noreturn]] void become_node(const NodeStart& start, pid_t parent, char** argv, char** envp) {
  tie_to_parent(parent);
  if (start.cpus) ::sched_setaffinity(0, sizeof *start.cpus, start.cpus);
  put_at(start.input, STDIN_FILENO);
  put_at(start.output, STDOUT_FILENO);
  put_at(start.error, STDERR_FILENO);
  ::fcntl(start.place, F_SETFD, 0);
  restore(*start.inheritance);
  // Here, not in the program, whatever it is: a debugger follows the exec.
  if (!start.plan->randomize) fix_addresses(start);
  if (start.plan->hold) bootstrap::wait_for_debugger();
  const char* path = start.plan->path.c_str();
  ::execve(path, argv, envp);
  if (errno == ENOEXEC) {  // a script without a #! line: what every shell does
    std::vector<char*> shell{const_cast<char*>("/bin/sh"), const_cast<char*>(path)};
    for (char** argument = argv + 1; *argument; ++argument) shell.push_back(*argument);
    shell.push_back(nullptr);
    ::execve(shell[0], shell.data(), envp);
  }
  StartError report{start.node.value, errno};
  [[maybe_unused]] auto ignored = ::write(start.start_errors, &report, sizeof report);
  ::_exit(report.error == ENOENT ? kExitNotFound : kExitNotExecutable);
}

using Variables = std::vector<std::pair<std::string, std::string>>;

// The value that the node would have; empty: none.
std::string value_of(const std::string& name, const Variables& added, char** own) {
  for (auto one = added.rbegin(); one != added.rend(); ++one)
    if (one->first == name) return one->second;
  for (char** entry = own; *entry; ++entry)
    if (name_of(*entry) == name) return *entry + name.size() + 1;
  return {};
}

void set(const std::string& name, const std::string& value, Variables& added) {
  std::erase_if(added, [&](const auto& variable) { return variable.first == name; });
  added.emplace_back(name, value);
}

void add_library_path(const ProgramFile& program, char** own, Variables& added) {
  std::string now = value_of("LD_LIBRARY_PATH", added, own);
  std::string path = library_path(program, now, installed_library_folder());
  if (path != now) set("LD_LIBRARY_PATH", path, added);
}

void add_preload(const NodeStart& start, const ProgramFile& program, char** own, Variables& added) {
  if (!wants_preload(program, start.plan->preload) || !why_no_preload(start.plan->preload).empty())
    return;
  std::string library = library_beside_command(start.plan->preload);
  if (library.empty()) return;
  std::string before = value_of("LD_PRELOAD", added, own);
  set("LD_PRELOAD", before.empty() ? library : before + ":" + library, added);
  added.emplace_back(platform::kPreloadedLibraryVariable, library);
  added.emplace_back(platform::kPreloadedProgramVariable, program.path);
}

}  // namespace

void restore(const Inheritance& before) {
  ::setpriority(PRIO_PROCESS, 0, before.nice);
  ::setrlimit(RLIMIT_NOFILE, &before.files);
  ::sigaction(SIGPIPE, &before.on_broken_pipe, nullptr);
  ::sigprocmask(SIG_SETMASK, &before.signal_mask, nullptr);
}

std::vector<std::string> node_environment(const NodeStart& start, char** own) {
  Variables added = start.plan->environment;
  added.emplace_back(kSocketVariable, std::to_string(start.place));
  added.emplace_back(kNodeVariable, std::to_string(start.node.value));
  added.emplace_back(kNodesVariable, std::to_string(start.plan->map.started()));
  added.emplace_back(kJobVariable, start.plan->job_name);
  const std::string& path = start.plan->program.empty() ? start.plan->path : start.plan->program;
  ProgramFile program = read_program(path, value_of("PATH", added, own));
  add_library_path(program, own, added);
  add_preload(start, program, own, added);
  std::vector<std::string> all;
  for (char** entry = own; *entry; ++entry) {
    bool replaced = std::any_of(added.begin(), added.end(), [&](const auto& variable) {
      return variable.first == name_of(*entry);
    });
    if (!replaced) all.emplace_back(*entry);
  }
  for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

base::Result<pid_t> spawn_node(const NodeStart& start) {
  std::vector<std::string> environment = node_environment(start, environ);
  std::vector<std::string> arguments = start.plan->argv;
  std::vector<char*> envp = pointers(environment), argv = pointers(arguments);
  pid_t parent = ::getpid();
  pid_t child = ::fork();
  if (child == 0) become_node(start, parent, argv.data(), envp.data());
  if (child < 0) {
    int why = errno;
    std::string cure = why == EAGAIN ? "; " + platform::why_no_thread(why) : "";
    return base::error("cannot start node {}: {}{}", start.node.value, std::strerror(why), cure);
  }
  ::setpgid(child, child);  // here too, so that the group exists whichever process runs first
  return child;
}

}  // namespace terrane::tools
