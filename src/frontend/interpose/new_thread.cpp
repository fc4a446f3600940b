#include "frontend/interpose/new_thread.h"

#include <cerrno>
#include <new>

#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"
#include "platform/fault_source.h"
#include "platform/program_signals.h"

namespace terrane::frontend {
namespace {

// What a new thread begins with. Owned by the thread.
struct Start {
  pthread_t* name;  // where the program wants it, if that is shared memory
  void* (*function)(void*);
  void* argument;
  std::uint8_t closed;
};

// Before its own code: a stack for faults, which may come where the thread has little of its own.
void* run_thread(void* raw) {
  Start start = *static_cast<Start*>(raw);
  delete static_cast<Start*>(raw);
  platform::believe_closed(start.closed);
  platform::open_fault_signals();
  platform::ensure_signal_stack();
  if (start.name != nullptr) *start.name = pthread_self();
  return start.function(start.argument);
}

}  // namespace

int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) noexcept {
  auto* call = next<"pthread_create">(::pthread_create);
  if (!SharedRange::exists()) return call(thread, attributes, function, argument);
  // The C library stores the name with all signals closed, those of faults included.
  bool shared = SharedRange::contains(thread);
  pthread_t own{};
  auto* start = new (std::nothrow)
      Start{shared ? thread : nullptr, function, argument, platform::believed_closed()};
  if (start == nullptr) return EAGAIN;
  int error = call(shared ? &own : thread, attributes, run_thread, start);
  if (error != 0) delete start;
  if (error == 0 && shared) *thread = own;
  return error;
}

}  // namespace terrane::frontend
