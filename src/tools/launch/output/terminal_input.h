#pragma once

#include <poll.h>

#include <string>

#include "base/unique_fd.h"

namespace terrane::tools {

// Carries what is typed at a terminal to node 0, which runs in a process group of its own and so
// may not read the terminal itself. Reads only while this process is in the terminal's foreground.
// Owns the pipe to node 0.
class TerminalInput {
 public:
  explicit TerminalInput(base::UniqueFd pipe) : pipe_(std::move(pipe)) {}

  // What to wait for; fd -1 when there is nothing to do.
  pollfd wanted() const;
  // After poll() said so.
  void move();

 private:
  base::UniqueFd pipe_;
  std::string waiting_;
};

}  // namespace terrane::tools
