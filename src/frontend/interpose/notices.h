#pragma once

#include <mqueue.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>

// How the end of something is told (sigevent), in a program whose threads run on several nodes: a
// function for it (SIGEV_THREAD) runs in a thread of the program.
namespace terrane::frontend {

// What libterrane_threads knows of that; in other libraries there is none.
class Notices {
 public:
  // nullptr: this process is no node of such a program, or its only one.
  static Notices* get() { return the_.load(std::memory_order_relaxed); }

  // Whether the program calls, and not a library of ours or a child of vfork.
  virtual bool asks() = 0;
  // This node.
  virtual std::uint32_t self() = 0;
  // A timer of this node that calls event's function. -1 and errno, or 0.
  virtual int create_timer(clockid_t clock, const sigevent& event, timer_t& timer) = 0;
  // The timer of this node is deleted.
  virtual void forget_timer(timer_t timer) = 0;
  // Calls event's function when a message comes to this node's queue while that is empty, once. -1
  // and errno, or 0.
  virtual int await_message(mqd_t queue, const sigevent& event) = 0;
  // Calls event's function in a new thread. An error number, or 0.
  virtual int start(const sigevent& event) = 0;

 protected:
  ~Notices() = default;
  static void set(Notices* one) { the_.store(one, std::memory_order_relaxed); }

 private:
  static constinit inline std::atomic<Notices*> the_{nullptr};
};

// Tells the program of an end by a signal or a thread, as `event` says. May lie in shared memory.
void notify(const sigevent& event);

}  // namespace terrane::frontend
