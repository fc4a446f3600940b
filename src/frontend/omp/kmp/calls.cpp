// kmp_*: what programs ask of libomp and of Intel's library by name, also as Fortran calls it (with
// an underscore, arguments by address). Source: omp.h of clang, and "Intel Compiler Extension
// Routines to OpenMP" of Intel's guides.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "frontend/omp/api.h"
#include "frontend/omp/kmp/abi.h"
#include "frontend/omp/team.h"

using namespace terrane::frontend::omp;

namespace {

// What the calling thread has set, and what it finds where it has set nothing. Neither says
// anything to us: a waiting thread sleeps where waiting.h says so, and regions in throughput and
// in turnaround mode are the same.
constexpr int kUsualBlockTime = 200;  // ms, as Intel's guide says
enum Library : int { kSerial = 1, kTurnaround = 2, kThroughput = 3 };
thread_local int block_time = -1;  // nothing set
thread_local int library = kThroughput;
thread_local std::uint32_t levels_before_serial = 0;

// As libomp answers: a thread that waits actively never sleeps, and a passive one sleeps at once.
int block_time_of_environment() {
  switch (environment().wait_policy) {
    case WaitPolicy::kActive:
      return INT_MAX;
    case WaitPolicy::kPassive:
      return 0;
    case WaitPolicy::kUnset:
      break;
  }
  return kUsualBlockTime;
}

// In serial mode a region has one thread, whatever its clauses say.
void set_library(int wanted) {
  if (wanted < kSerial || wanted > kThroughput) return;
  Controls& own = controls();
  if (wanted == kSerial && library != kSerial) {
    levels_before_serial = own.max_active_levels;
    own.max_active_levels = 0;
  } else if (wanted != kSerial && library == kSerial) {
    own.max_active_levels = levels_before_serial;
  }
  library = wanted;
}

void set_stack(std::size_t bytes) {
  if (bytes != 0) set_thread_stack(bytes);
}

}  // namespace

extern "C" {

void kmp_set_blocktime(int ms) { block_time = std::max(ms, 0); }
int kmp_get_blocktime() { return block_time < 0 ? block_time_of_environment() : block_time; }
void kmp_set_blocktime_(const int* ms) { kmp_set_blocktime(*ms); }
int kmp_get_blocktime_() { return kmp_get_blocktime(); }

void kmp_set_library(int mode) { set_library(mode); }
int kmp_get_library() { return library; }
void kmp_set_library_serial() { set_library(kSerial); }
void kmp_set_library_turnaround() { set_library(kTurnaround); }
void kmp_set_library_throughput() { set_library(kThroughput); }
void kmp_set_library_(const int* mode) { set_library(*mode); }
int kmp_get_library_() { return library; }
void kmp_set_library_serial_() { set_library(kSerial); }
void kmp_set_library_turnaround_() { set_library(kTurnaround); }
void kmp_set_library_throughput_() { set_library(kThroughput); }

// Of the threads that start from now on.
void kmp_set_stacksize_s(std::size_t bytes) { set_stack(bytes); }
std::size_t kmp_get_stacksize_s() { return stack_of_threads(); }
void kmp_set_stacksize(int bytes) { set_stack(static_cast<std::size_t>(std::max(bytes, 0))); }
int kmp_get_stacksize() {
  return static_cast<int>(std::min<std::size_t>(stack_of_threads(), INT_MAX));
}
void kmp_set_stacksize_s_(const std::size_t* bytes) { set_stack(*bytes); }
std::size_t kmp_get_stacksize_s_() { return stack_of_threads(); }
void kmp_set_stacksize_(const int* bytes) { kmp_set_stacksize(*bytes); }
int kmp_get_stacksize_() { return kmp_get_stacksize(); }

// Settings with a | between them.
void kmp_set_defaults(const char* text) {
  if (text != nullptr) set_defaults(text, controls());
}
void kmp_set_defaults_(const char* text, std::size_t bytes) {
  set_defaults(std::string_view(text, bytes), controls());
}

// Counters of loops are those of work.h, and nothing here warns.
void kmp_set_disp_num_buffers(int) {}
void kmp_set_disp_num_buffers_(const int*) {}
void kmp_set_warnings_on() {}
void kmp_set_warnings_off() {}
void kmp_set_warnings_on_() {}
void kmp_set_warnings_off_() {}

// Whether the construct of that kind has been cancelled around the calling thread.
int kmp_get_cancellation_status(int) { return 0; }
int kmp_get_cancellation_status_(const int*) { return 0; }

// Memory that all threads share, as that of malloc. nullptr: there is none.
void* kmp_malloc(std::size_t bytes) { return std::malloc(bytes); }
void* kmp_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  std::size_t least = std::max(alignment, sizeof(void*));
  return ::posix_memalign(&memory, least, bytes) == 0 ? memory : nullptr;
}
void* kmp_calloc(std::size_t count, std::size_t bytes) { return std::calloc(count, bytes); }
void* kmp_realloc(void* memory, std::size_t bytes) { return std::realloc(memory, bytes); }
void kmp_free(void* memory) { std::free(memory); }
void* kmp_malloc_(const std::size_t* bytes) { return std::malloc(*bytes); }
void* kmp_aligned_malloc_(const std::size_t* bytes, const std::size_t* alignment) {
  return kmp_aligned_malloc(*bytes, *alignment);
}
void* kmp_calloc_(const std::size_t* count, const std::size_t* bytes) {
  return std::calloc(*count, *bytes);
}
void* kmp_realloc_(void** memory, const std::size_t* bytes) {
  return std::realloc(*memory, *bytes);
}
void kmp_free_(void** memory) { std::free(*memory); }

// The names that omp.h of Intel's older compilers gives to some of these in C.
#define TERRANE_SAME(result, name, ...) \
  result kmpc_##name(__VA_ARGS__) __attribute__((alias("kmp_" #name)));
TERRANE_SAME(void, set_blocktime, int)
TERRANE_SAME(void, set_library, int)
TERRANE_SAME(void, set_stacksize, int)
TERRANE_SAME(void, set_stacksize_s, std::size_t)
TERRANE_SAME(void, set_defaults, const char*)
TERRANE_SAME(void, set_disp_num_buffers, int)
TERRANE_SAME(void*, malloc, std::size_t)
TERRANE_SAME(void*, aligned_malloc, std::size_t, std::size_t)
TERRANE_SAME(void*, calloc, std::size_t, std::size_t)
TERRANE_SAME(void*, realloc, void*, std::size_t)
TERRANE_SAME(void, free, void*)

}  // extern "C"
