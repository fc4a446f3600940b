#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "waiting/decision.h"

namespace terrane::waiting {

// The result of one turn of a handler thread: whether it delivered any message, whether it
// delivered one that others wait for, and when there is more to do.
struct HandlerTurn {
  bool took_any = false, took_urgent = false;
  std::uint64_t next_ns = ~0ull;  // from now on; 0: at once
};

// The thread of a node that serves other nodes while the program's threads compute. It sleeps until
// a message comes, and then takes a turn. Owns the thread. Any thread may call.
class HandlerThread {
 public:
  struct Duties {
    // Sleeps until a message comes, wake() is called, or the timeout ends. patience_ns: not 0:
    // messages do not end the sleep; the sleep itself looks for them at this interval.
    std::function<void(std::uint64_t timeout_ns, std::uint64_t patience_ns)> sleep;
    // Ends the sleep, now or the next one. Async-signal-safe.
    std::function<void()> wake;
    // Delivers all messages, and does the work that is due.
    std::function<HandlerTurn()> turn;
  };

  HandlerThread() = default;
  HandlerThread(const HandlerThread&) = delete;
  ~HandlerThread() { stop(); }

  // Returns when the thread has run once. If it cannot be started: throws std::system_error, which
  // names the limit that prevented it.
  void start(Duties duties);
  // Ends the thread after its current turn, if there is one. Later turns must not be needed.
  void stop();
  // Wakes the thread: there is work that only it can do.
  void call();
  // Why waiting threads of this node yield to the thread.
  HandlerNeed need() const { return need_.load(); }

 private:
  void run();

  Duties duties_;
  std::atomic<HandlerNeed> need_{HandlerNeed::kNothing};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> started_{false};
  std::thread thread_;
};

}  // namespace terrane::waiting
