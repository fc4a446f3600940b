#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/ids.h"

namespace terrane::tools {

// Why a node ended the job.
struct Death {
  enum class Cause {
    kNotStarted,  // the program could not be executed; `number` is errno
    kSignal,      // `number` is the signal
    kAsked,       // none: it asked for the end of the job, with `number` as the exit code
    kHostLost,    // the engine of its host has gone; `sentence` tells more
    kSilent,      // it gave no sign of life for `number` ms; `sentence` is what may be the reason
    kSentence,    // the node gave `sentence`; `number` is the exit code
    kExitCode,    // `number` is the exit code
    kNotLeft,     // it joined and ended with 0 without leaving
    kLost,        // the process that joined, under a wrapper, has gone; how is not known; or
                  // `sentence` says what is
    kLast = kLost,
  };
  NodeId node{};
  pid_t pid = 0;
  Cause cause = Cause::kExitCode;
  int number = 0;
  bool core_dumped = false;
  std::string sentence;

  bool operator==(const Death&) const = default;
};

// From a wait status that is not an exit with 0.
Death death_of(NodeId node, pid_t pid, int wait_status);

// What a process that exits with `code` shows of it (its lowest byte), and never success.
int failure_code(int code);

// The job's exit code when this death is the first.
int exit_code_of(const Death& death);

// The node ended itself by abort().
bool is_abort(const Death& death);

// The node wrote where nobody reads.
bool is_broken_pipe(const Death& death);

// Whether `a` explains more than `b` when both came to light at once: a signal is a cause, an exit
// may be its effect, and so may an abort be.
bool explains_more(const Death& a, const Death& b);

// One sentence: node, process, host, cause, what becomes of the others, and what to do.
std::string describe(const Death& death, const std::string& host, std::uint32_t others);

// "SIGKILL" for 9; "signal 40" where there is no name.
std::string signal_name(int signal);

}  // namespace terrane::tools
