#include "frontend/interpose/new_thread.h"

#include <atomic>
#include <cerrno>
#include <new>

#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"
#include "platform/fault_source.h"
#include "platform/program_signals.h"
#include "platform/wait.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend {
namespace {

// What a new thread begins with. Owned by the thread and its creator: the last to leave deletes it.
struct Start {
  Start(void* (*called)(void*), void* with, std::uint8_t signals)
      : function(called), argument(with), closed(signals) {}
  void leave() {
    if (owners.fetch_sub(1) == 1) delete this;
  }

  void* (*function)(void*);
  void* argument;
  std::uint8_t closed;
  std::atomic<std::uint32_t> is_named{0};  // the creator has stored the thread's name
  std::atomic<int> owners{2};
};

// Before its own code: a stack for faults, which may come where the thread has little of its own.
void* run_thread(void* raw) {
  auto* start = static_cast<Start*>(raw);
  auto* function = start->function;
  void* argument = start->argument;
  platform::believe_closed(start->closed);
  platform::open_fault_signals();
  platform::ensure_signal_stack();
  while (start->is_named.load() == 0) platform::futex_wait(start->is_named, 0, 0);
  start->leave();
  return function(argument);
}

}  // namespace

// The C library uses the stack, and stores the name, with all signals closed, those of faults
// included: neither may be shared memory then. As the C library stores the name before the thread
// begins, the thread waits until its creator has stored it where the program wants it.
int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) noexcept {
  auto* call = next<"pthread_create">(::pthread_create);
  if (!SharedRange::exists()) return call(thread, attributes, function, argument);
  struct Created {
    int error;
    Start* start;
    pthread_t name;
  };
  Created created = runtime::on_own_stack([=] {
    auto* start = new (std::nothrow) Start(function, argument, platform::believed_closed());
    if (start == nullptr) return Created{EAGAIN, nullptr, {}};
    pthread_t name{};
    int error = call(&name, attributes, run_thread, start);
    if (error != 0) delete start;
    return Created{error, start, name};
  });
  if (created.error != 0) return created.error;
  *thread = created.name;
  created.start->is_named.store(1);
  platform::futex_wake_all(created.start->is_named);
  created.start->leave();
  return 0;
}

}  // namespace terrane::frontend
