#include "platform/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace terrane::platform {
namespace {

// Rounds of spinning, 1 to 2 us: long enough for an answer that is on its way. Longer spinning wins
// nothing over yielding on an idle processor (a yield is 0.3 us there), and costs its whole length
// where somebody else's program wants the processor: a barrier of two processes took 1.6 us with
// yields alone, 3 with this much, 125 with 50 us.
constexpr std::uint32_t kSpins = 64;
// Then the processor is offered to others until this has passed, about what a sleeper's wake-up
// costs on a virtual machine (30-100 us), but at least so many times.
constexpr std::uint64_t kYieldNs = 100'000;
// Where the threads fit the processors nobody needs ours: a processor that halts takes milliseconds
// to come back at times, which one that yields to nobody never does.
constexpr std::uint64_t kYieldAloneNs = 5'000'000;
constexpr std::uint32_t kYields = 16;
// Where nobody else needs the processor, a yield for every look would double the price of looks.
constexpr std::uint32_t kLooksPerYield = 8;

// Set once at start; 1 until then, which spins.
std::atomic<std::uint32_t> runnable_threads{1};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

std::uint32_t count_processors() {
  // The kernel refuses masks shorter than its own: grow until it agrees.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    if (set == nullptr) break;
    std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    bool known = sched_getaffinity(0, bytes, set) == 0;
    int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return static_cast<std::uint32_t>(std::max(count, 1));
  }
  return 1;
}

}  // namespace

void set_runnable_threads(std::uint32_t threads) {
  usable_processors();  // counted now: the first wait may be in a signal handler
  runnable_threads.store(threads, std::memory_order_relaxed);
}

std::uint32_t usable_processors() {
  static const std::uint32_t processors = count_processors();
  return processors;
}

bool Backoff::pause() {
  if (rounds_ < kSpins) {
    if (runnable_threads.load(std::memory_order_relaxed) <= usable_processors()) {
      ++rounds_;
      relax();
      return true;
    }
    rounds_ = kSpins;
  }
  std::uint64_t now = now_ns();
  if (rounds_ == kSpins) {
    fits_ = runnable_threads.load(std::memory_order_relaxed) <= usable_processors();
    sleep_at_ns_ = now + (fits_ ? kYieldAloneNs : kYieldNs);
  }
  if (rounds_ >= kSpins + kYields && now >= sleep_at_ns_) return false;
  if (++rounds_ % kLooksPerYield != 0 && fits_) {
    relax();
  } else {
    sched_yield();
  }
  return true;
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint64_t timeout_ns) {
  timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                   static_cast<long>(timeout_ns % 1'000'000'000)};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, timeout_ns != 0 ? &timeout : nullptr, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  Backoff backoff;
  while (word.load(std::memory_order_acquire) == expected) {
    if (!backoff.pause()) futex_wait(word, expected, 0);
  }
}

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace terrane::platform
