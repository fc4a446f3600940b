#include "tools/launch/hub/death.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "tools/launch/exit_codes.h"

namespace terrane::tools {
namespace {

std::string others_text(std::uint32_t others) {
  if (others == 0) return "";
  if (others == 1) return "; the other node is being ended";
  return fmt::format("; the other {} nodes are being ended", others);
}

std::string signal_advice(const Death& death) {
  switch (death.number) {
    case SIGKILL:
      return "somebody killed it, or the host ran out of memory (look with: dmesg | grep -i "
             "'killed process')";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGTRAP:
    case SIGSYS:
      return death.core_dumped ? "it left a core file: look with gdb PROGRAM CORE"
                               : "for a core file run it again after: ulimit -c unlimited";
    case SIGXCPU:
      return "its processor time was used up: ulimit -t";
    case SIGPIPE:
      return "who read its output had gone";
    default:
      return "somebody sent it that signal";
  }
}

std::string advice(const Death& death) {
  switch (death.cause) {
    case Death::Cause::kSignal:
      return signal_advice(death);
    case Death::Cause::kExitCode:
      return "its own output says why; terrane run --tag-output shows which node wrote what";
    case Death::Cause::kNotLeft:
      return "a program that joined a job must leave it (terrane_finalize, "
             "terrane_chunks_finalize) before it ends";
    case Death::Cause::kLost:
      return death.sentence.empty() ? "start the program without a wrapper to learn how it ended"
                                    : "";
    case Death::Cause::kNotStarted:
      return death.number == ENOENT
                 ? "the file exists, so its interpreter (its #! line or the loader) is missing"
                 : "check what it is with: file PROGRAM";
    case Death::Cause::kAsked:
    case Death::Cause::kSentence:
    case Death::Cause::kSilent:
    case Death::Cause::kHostLost:
      return "";
  }
  return "";
}

std::string what_happened(const Death& death) {
  switch (death.cause) {
    case Death::Cause::kSignal:
      return fmt::format("was killed by {} (signal {})", signal_name(death.number), death.number);
    case Death::Cause::kExitCode:
      return fmt::format("exited with code {}", death.number);
    case Death::Cause::kNotLeft:
      return "ended without leaving the job";
    case Death::Cause::kAsked:
      return fmt::format("ended the job in order, with code {}", death.number);
    case Death::Cause::kLost:
      return death.sentence.empty() ? "ended under its wrapper without leaving the job"
                                    : death.sentence;
    case Death::Cause::kNotStarted:
      return fmt::format("could not be started: {}", std::strerror(death.number));
    case Death::Cause::kSentence:
      return fmt::format("ended the job: {}", death.sentence);
    case Death::Cause::kSilent:
      return fmt::format("no sign of life for {:.1f} s ({})", death.number / 1000.0,
                         death.sentence);
    case Death::Cause::kHostLost:
      return death.sentence;
  }
  return "";
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

Death death_of(NodeId node, pid_t pid, int wait_status) {
  Death death{.node = node, .pid = pid};
  if (WIFSIGNALED(wait_status)) {
    death.cause = Death::Cause::kSignal;
    death.number = WTERMSIG(wait_status);
    death.core_dumped = WCOREDUMP(wait_status);
  } else {
    death.number = WEXITSTATUS(wait_status);
  }
  return death;
}

int failure_code(int code) {
  int shown = code & 0xff;
  return shown == 0 ? kExitFailure : shown;
}

int exit_code_of(const Death& death) {
  switch (death.cause) {
    case Death::Cause::kSignal:
      return failure_code(kExitSignalBase + (death.number & 0xff));
    case Death::Cause::kNotStarted:
      return death.number == ENOENT ? kExitNotFound : kExitNotExecutable;
    case Death::Cause::kNotLeft:
    case Death::Cause::kLost:
    case Death::Cause::kSilent:
    case Death::Cause::kHostLost:
      return kExitFailure;
    case Death::Cause::kAsked:
      return death.number & 0xff;
    case Death::Cause::kSentence:
    case Death::Cause::kExitCode:
      break;
  }
  return failure_code(death.number);
}

bool is_broken_pipe(const Death& death) {
  return death.cause == Death::Cause::kSignal && death.number == SIGPIPE;
}

bool is_abort(const Death& death) {
  return death.cause == Death::Cause::kSignal && death.number == SIGABRT;
}

bool explains_more(const Death& a, const Death& b) {
  // A program, or a library in it, that aborts has met something that it cannot go on with: the
  // loss of another host, say.
  auto rank = [](const Death& death) {
    auto cause = is_abort(death) ? Death::Cause::kSilent : death.cause;
    return 2 * static_cast<int>(cause) + (is_abort(death) ? 1 : 0);
  };
  return rank(a) < rank(b);
}

std::string describe(const Death& death, const std::string& host, std::uint32_t others) {
  if (death.cause == Death::Cause::kSilent || death.cause == Death::Cause::kHostLost) {
    return fmt::format("node {} on host {}: {}{}", death.node.value, host, what_happened(death),
                       others_text(others));
  }
  std::string what_to_do = advice(death);
  return fmt::format("node {} (process {} on {}) {}{}{}{}", death.node.value, death.pid, host,
                     what_happened(death), what_to_do.empty() ? "" : ": ", what_to_do,
                     others_text(others));
}

}  // namespace terrane::tools
