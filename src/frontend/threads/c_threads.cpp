// Threads of <threads.h>: they are those of pthread_create by other names. Their mutexes and
// conditions are in frontend/pages/objects.
#include <pthread.h>
#include <threads.h>

#include <cerrno>

#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"

using namespace terrane::frontend::threads;
using terrane::frontend::next;

namespace {

// What a new thread calls. Lies in shared memory.
struct Start {
  thrd_start_t function;
  void* argument;
};

void* begin(void* raw) {
  Start start = *static_cast<Start*>(raw);
  Program::get()->heap().free(raw);
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start.function(start.argument)));
}

bool is_programs_thread() { return Program::get() != nullptr && this_thread().record != nullptr; }

int answer(int error) { return error == 0 ? thrd_success : thrd_error; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  bool programs =
      is_programs_thread() && Program::get()->allocates_shared(__builtin_return_address(0));
  if (!programs) return next<"thrd_create">(::thrd_create)(thread, function, argument);
  auto* start = static_cast<Start*>(Program::get()->heap().allocate(sizeof(Start)));
  if (start == nullptr) return thrd_nomem;
  *start = {function, argument};
  int error = create_thread(thread, nullptr, begin, start);
  if (error != 0) Program::get()->heap().free(start);
  return error == EAGAIN ? thrd_nomem : answer(error);
}

int thrd_join(thrd_t thread, int* result) {
  if (record_of(thread) == nullptr) return next<"thrd_join">(::thrd_join)(thread, result);
  void* value = nullptr;
  int error = pthread_join(thread, &value);
  if (error == 0 && result != nullptr)
    *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return answer(error);
}

int thrd_detach(thrd_t thread) {
  if (record_of(thread) == nullptr) return next<"thrd_detach">(::thrd_detach)(thread);
  return answer(pthread_detach(thread));
}

thrd_t thrd_current(void) { return pthread_self(); }

void thrd_exit(int result) {
  if (!is_programs_thread()) next<"thrd_exit">(::thrd_exit)(result);
  pthread_exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result)));
}

int thrd_sleep(const timespec* time, timespec* left) {
  if (nanosleep(time, left) == 0) return 0;
  return errno == EINTR ? -1 : -2;
}

}  // extern "C"
#pragma GCC visibility pop
