#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace terrane::tools {

// Pipes whose content a process of its own writes to the job's standard output and error, because a
// reader of our output that stops reading must stop the writers, never the launcher. A tagged line
// is never torn, and lines of different pipes never run into each other. A pipe whose reader has
// gone is closed, so that its writers learn of it. Owns the reading ends until start().
class OutputProcess {
 public:
  // The writing end of a new pipe. `tag` comes before each line; nullopt: the bytes pass as they
  // come.
  base::Result<base::UniqueFd> add(bool is_error, std::optional<std::string> tag);
  // Forks the process that does the work; it ends when every pipe has ended. It writes to the
  // descriptors given (-1: our own standard output and error), at this priority.
  base::Result<pid_t> start(int nice, int output = -1, int error = -1);
  // Of the process's wait status: why the output could not be written, in a sentence; nullopt: it
  // was, or nobody reads it any more.
  static std::optional<std::string> failure(int status);

 private:
  struct Pipe {
    base::UniqueFd read;
    bool is_error;
    std::optional<std::string> tag;
  };

  [[noreturn]] void work(pid_t parent, int nice, int output, int error);

  std::vector<Pipe> pipes_;
};

}  // namespace terrane::tools
