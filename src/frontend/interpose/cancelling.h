#pragma once

#include <atomic>
#include <cerrno>

#include "frontend/interpose/next.h"

// Calls in which a thread can be cancelled (pthread_cancel) in a program whose threads run on
// several nodes.
namespace terrane::frontend {

// What libterrane_threads knows of that; in other libraries there is none, and the C library
// cancels threads.
class Cancelling {
 public:
  // nullptr: this process is no node of such a program.
  static Cancelling* get() { return the_.load(std::memory_order_relaxed); }

  // The calling thread ends here if it is cancelled, and may be.
  virtual void test() = 0;
  // The same in front of a call that waits, and whether a request wakes the thread from the call:
  // then leave() follows it. was_woken: the call ended without an effect, so the thread ends if it
  // is cancelled.
  virtual bool enter() = 0;
  virtual void leave(bool was_woken) = 0;
  // Whether the calling thread is cancelled, and in a call that it has entered.
  virtual bool is_to_wake() = 0;

 protected:
  ~Cancelling() = default;
  static void set(Cancelling* one) { the_.store(one, std::memory_order_relaxed); }

 private:
  static constinit inline std::atomic<Cancelling*> the_{nullptr};
};

// call() waits; was_woken(result): it ended without an effect.
template <typename Call, typename WasWoken>
auto cancellable(Call call, WasWoken was_woken) {
  Cancelling* cancelling = Cancelling::get();
  if (cancelling == nullptr || !cancelling->enter()) return call();
  auto result = call();
  cancelling->leave(was_woken(result));
  return result;
}

// The same of a system call, which is woken by a signal.
template <typename Call>
auto cancellable(Call call) {
  return cancellable(call, [](auto result) { return result == -1 && errno == EINTR; });
}

// next<"read">(::read) as a cancellation point.
template <Name kName, typename Result, typename... Parameters>
auto cancellable_next(Result (&)(Parameters...)) {
  return [](Parameters... parameters) {
    return cancellable([&] { return Next<kName, Result(Parameters...)>::get()(parameters...); });
  };
}

}  // namespace terrane::frontend
