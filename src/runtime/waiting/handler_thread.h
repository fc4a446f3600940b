#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "runtime/waiting/decision.h"

namespace terrane::runtime::waiting {

// What one turn of a handler thread took in: any message, and one that others wait for; and when
// there is more to do.
struct HandlerTurn {
  bool took_any = false, took_urgent = false;
  std::uint64_t next_ns = ~0ull;  // from now on; 0: at once
};

// The thread of a node that serves other nodes while the program's threads compute: it sleeps until
// a message comes, and takes turns. Owns the thread. Any thread may call.
class HandlerThread {
 public:
  struct Duties {
    // Sleeps until a message comes, wake() is called, or the time is over. patience_ns: messages do
    // not end the sleep, which looks for them so often; 0: they do.
    std::function<void(std::uint64_t timeout_ns, std::uint64_t patience_ns)> sleep;
    // Ends the sleep, now or the next one. Async-signal-safe.
    std::function<void()> wake;
    // Takes in all messages, and does what is to be done.
    std::function<HandlerTurn()> turn;
  };

  HandlerThread() = default;
  HandlerThread(const HandlerThread&) = delete;
  ~HandlerThread() { stop(); }

  // Returns when the thread has had a processor. Throws std::system_error that names the limit in
  // the way where it cannot be started.
  void start(Duties duties);
  // Ends the thread after its turn; none may be needed any more. Nothing happens where there is no
  // thread.
  void stop();
  // There is something that the thread alone can do.
  void call();
  // What threads of this node that wait yield to the thread for.
  HandlerNeed need() const { return need_.load(); }

 private:
  void run();

  Duties duties_;
  std::atomic<HandlerNeed> need_{HandlerNeed::kNothing};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> started_{false};
  std::thread thread_;
};

}  // namespace terrane::runtime::waiting
