#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// An engine's side of the socket to its guard, and the signals that somebody sends to the engine
// itself: they count as if sent to the guard. Owns the socket. Tells when the guard has gone, or
// has been stopped for the heartbeat's limit though nobody asked it to stop. Equal signals that
// come within a moment are one: timeout(1), for one, signals its child and its group.
class GuardLink {
 public:
  struct Handlers {
    std::function<void(int signal)> on_signal;
    std::function<void()> on_gone;
    std::function<void()> on_stopped;
  };

  GuardLink(Loop& loop, base::UniqueFd socket, std::uint64_t heartbeat_ms, Handlers handlers);

  base::Result<> open();
  int socket() const { return socket_.get(); }
  // Whether the guard has gone or is about to, though its end of the socket may still be open.
  bool guard_is_going() const;

 private:
  void read_socket();
  void read_signals();
  void take(int signal);
  void pass_on(int signal);
  void pass_on_gathered();
  void look();

  Loop& loop_;
  base::UniqueFd socket_, signals_;
  std::uint64_t heartbeat_ms_;
  Handlers handlers_;
  bool paused_ = false;  // it stops because it was asked to
  pid_t guard_;
  Vigil moving_;
  Timer look_;
  std::vector<int> gathered_;  // signals that may come once more for the same wish
  Timer gather_;
};

}  // namespace terrane::tools
