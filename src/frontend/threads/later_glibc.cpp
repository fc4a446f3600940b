// Functions of versions of glibc later than that which this is built with, about what the program
// shares.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"

using terrane::frontend::find_next_if_any;
using namespace terrane::frontend::threads;

#pragma GCC visibility push(default)
extern "C" {

// 2.43.
void free_sized(void* block, size_t) noexcept { ::free(block); }
void free_aligned_sized(void* block, size_t, size_t) noexcept { ::free(block); }

// 2.43. The number of a thread of another node is that node's business.
pid_t pthread_gettid_np(pthread_t thread) noexcept {
  Record* record = record_of(thread);
  if (record != nullptr) return record == this_thread().record ? ::gettid() : -1;
  auto* call = reinterpret_cast<pid_t (*)(pthread_t)>(find_next_if_any("pthread_gettid_np"));
  return call == nullptr ? -1 : call(thread);
}

}  // extern "C"
#pragma GCC visibility pop
