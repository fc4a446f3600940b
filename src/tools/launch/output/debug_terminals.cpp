#include "tools/launch/output/debug_terminals.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>

#include "tools/launch/exit_codes.h"
#include "tools/launch/host/agent_command.h"
#include "tools/launch/host/debugger.h"

namespace terrane::tools {
namespace {

using Words = std::vector<std::string>;

// In a session of its own: what the user types at `terrane run` does not reach the debuggers.
[[noreturn]] void become_terminal(const Words& words, const Inheritance& inheritance,
                                  pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kExitFailure);
  int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  restore(inheritance);
  ::signal(SIGPIPE, SIG_DFL);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::string why = fmt::format("{}: {}\n", argv[0], std::strerror(errno));
  [[maybe_unused]] auto ignored = ::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(kExitNotFound);
}

}  // namespace

Words debugger_command(const JobPlan& plan, std::uint32_t host, pid_t pid) {
  Words words = plan.terminal;
  if (static_cast<std::int32_t>(host) != plan.own_host) {
    Words reach = plan.rsh.empty() ? Words{"ssh", "-t"} : split_words(plan.rsh);
    words.insert(words.end(), reach.begin(), reach.end());
    words.push_back(plan.program.map.names[host]);
    words.push_back(in_shell_words(debugger_words(pid)));
    return words;
  }
  Words debugger = debugger_words(pid);
  words.insert(words.end(), debugger.begin(), debugger.end());
  return words;
}

void DebugTerminals::open(NodeId node, std::uint32_t host, pid_t pid) {
  Words words = debugger_command(plan_, host, pid);
  pid_t parent = ::getpid();
  pid_t child = ::fork();
  if (child == 0) become_terminal(words, inheritance_, parent);
  if (child < 0) {
    return on_failed_(
        fmt::format("cannot start a terminal for node {}: {}", node.value, std::strerror(errno)));
  }
  children_.expect(child, [this, node, host, pid](int status) { ended(node, host, pid, status); });
}

// A terminal may be a client that only asks a server for a window, and then has done its part.
void DebugTerminals::ended(NodeId node, std::uint32_t host, pid_t pid, int status) {
  if (status == 0 || has_joined_(node)) return;
  on_failed_(fmt::format(
      "the terminal for the debugger of node {} has failed, and the node still waits; "
      "it was: {}; choose another by TERRANE_TERMINAL, or attach yourself: --debug=wait",
      node.value, in_shell_words(debugger_command(plan_, host, pid))));
}

}  // namespace terrane::tools
