#include "tools/run_debug.h"

#include <cstdlib>

#include "tools/launch/host/agent_command.h"
#include "tools/launch/host/debugger.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {
namespace {

constexpr const char* kTerminalVariable = "TERRANE_TERMINAL";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_installed(const std::string& name) {
  std::string path = variable("PATH");
  return find_program(name, path.empty() ? "/usr/bin:/bin" : path).exit_code == 0;
}

// The words that a command is appended to, to run in a window of its own.
base::Result<std::vector<std::string>> choose_terminal() {
  std::vector<std::string> words = split_words(variable(kTerminalVariable));
  if (!words.empty()) {
    if (is_installed(words[0])) return words;
    return base::error("{}: there is no command {} here", kTerminalVariable, words[0]);
  }
  if (!variable("TMUX").empty() && is_installed("tmux")) {
    return std::vector<std::string>{"tmux", "new-window", "-d"};
  }
  if (!variable("DISPLAY").empty() && is_installed("xterm")) {
    return std::vector<std::string>{"xterm", "-e"};
  }
  return base::error(
      "--debug=gdb needs terminals: start it inside tmux, or with a DISPLAY and xterm installed, "
      "or set {} to words that a command follows (TERRANE_TERMINAL='xterm -e'); or attach "
      "debuggers yourself: --debug=wait",
      kTerminalVariable);
}

}  // namespace

base::Result<> plan_debugging(const RunOptions& options, JobPlan& plan) {
  if (options.debug.empty()) return {};
  plan.program.hold = true;
  if (options.debug == "wait") return {};
  bool reached = plan.engine == StartEngine::kLocal || plan.engine == StartEngine::kSsh;
  if (!reached) {
    return base::error(
        "--debug=gdb reaches other hosts by ssh, not by --engine {}; use --engine ssh, or attach "
        "debuggers yourself: --debug=wait",
        options.engine);
  }
  auto terminal = choose_terminal();
  if (!terminal) return terminal.error();
  plan.terminal = std::move(terminal).value();
  if (!is_installed(kDebugger)) {
    return base::error("--debug=gdb: there is no {} here (Debian: apt install gdb)", kDebugger);
  }
  return {};
}

}  // namespace terrane::tools
