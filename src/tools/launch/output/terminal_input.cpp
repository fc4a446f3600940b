#include "tools/launch/output/terminal_input.h"

#include <unistd.h>

#include <cerrno>

namespace terrane::tools {

pollfd TerminalInput::wanted() const {
  if (!pipe_) return {-1, 0, 0};
  if (!waiting_.empty()) return {pipe_.get(), POLLOUT, 0};
  bool foreground = ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
  return {foreground ? STDIN_FILENO : -1, POLLIN, 0};
}

void TerminalInput::move() {
  if (waiting_.empty()) {
    char text[4096];
    ssize_t got = ::read(STDIN_FILENO, text, sizeof text);
    if (got > 0) waiting_.assign(text, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) pipe_.reset();
    return;
  }
  ssize_t wrote = ::write(pipe_.get(), waiting_.data(), waiting_.size());
  if (wrote > 0) {
    waiting_.erase(0, static_cast<std::size_t>(wrote));
  } else if (errno != EINTR && errno != EAGAIN) {
    pipe_.reset();  // node 0 has closed its input
    waiting_.clear();
  }
}

}  // namespace terrane::tools
