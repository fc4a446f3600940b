#include "platform/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "platform/rivals.h"
#include "platform/waiting.h"

namespace terrane::platform {
namespace {

// Rounds of spinning, 1 to 2 us: long enough for an answer that is on its way.
constexpr std::uint32_t kSpins = 64;
// Then it looks at the clock as well. Where the threads are more than the processors each look
// offers the processor to others: to keep it for 50 us made a barrier of two processes on one
// processor of 1.6 us one of 125. Until this has passed, about what a sleeper's wake-up costs on a
// virtual machine (30-100 us), but at least so many times.
constexpr std::uint64_t kYieldNs = Backoff::kBriefNs;
constexpr std::uint32_t kYields = 16;
// Where the threads fit the processors nobody of ours needs this one: a processor that halts takes
// milliseconds to come back at times, which one that looks again and again never does.
constexpr std::uint64_t kAloneNs = 5'000'000;
// Who may need it for what the waiting thread could do as well.
constexpr std::uint64_t kSoonNs = 20'000;
// After so many offers it asks whether anybody has taken one of them.
constexpr std::uint32_t kOffers = 256;

// Set once at start; true until then.
std::atomic<bool> threads_fit{true};
std::atomic<Waiting> chosen_waiting{Waiting::kAdaptive};
Rivals rivals;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// The calling thread has offered its processor while there may be a rival.
void count_offer() {
  thread_local std::uint32_t offers = 0;
  thread_local long switches = 0;
  if (++offers % kOffers != 0) return;
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  if (std::exchange(switches, used.ru_nivcsw) == used.ru_nivcsw) rivals.refused();
}

}  // namespace

ProcessorSet usable_processors() {
  ProcessorSet found{};
  // The kernel refuses masks shorter than its own: grow until it agrees.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    if (set == nullptr) break;
    std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    bool known = sched_getaffinity(0, bytes, set) == 0;
    for (std::size_t cpu = 0; known && cpu < found.size() * 64; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) found[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    }
    CPU_FREE(set);
    if (known) break;
  }
  return found;
}

void share_processors(std::uint32_t threads, std::uint32_t processors) {
  threads_fit.store(threads <= processors, std::memory_order_relaxed);
}

bool threads_fit_processors() { return threads_fit.load(std::memory_order_relaxed); }

void choose_waiting(Waiting waiting) { chosen_waiting.store(waiting, std::memory_order_relaxed); }

std::optional<Waiting> waiting_named(std::string_view name) {
  if (name == "auto") return Waiting::kAdaptive;
  if (name == "spin") return Waiting::kSpin;
  if (name == "sleep") return Waiting::kSleep;
  return std::nullopt;
}

bool Backoff::is_short() const {
  return rounds_ < kSpins && threads_fit.load(std::memory_order_relaxed) &&
         chosen_waiting.load(std::memory_order_relaxed) != Waiting::kSleep;
}

void Backoff::renew() { rounds_ = std::min(rounds_, kSpins); }

bool Backoff::pause(Owed owed) {
  Waiting waiting = chosen_waiting.load(std::memory_order_relaxed);
  if (waiting == Waiting::kSleep) return false;
  if (rounds_ < kSpins) {
    if (owed != Owed::kNow && threads_fit.load(std::memory_order_relaxed)) {
      ++rounds_;
      relax();
      return true;
    }
    rounds_ = kSpins;
  }
  std::uint64_t now = now_ns();
  if (rounds_ == kSpins) {
    fits_ = threads_fit.load(std::memory_order_relaxed);
    began_ns_ = looked_ns_ = now;
  }
  if (waiting == Waiting::kAdaptive && is_long(now)) return false;
  ++rounds_;
  if (fits_ && now - looked_ns_ >= Rivals::kLostNs) rivals.lost(now);
  looked_ns_ = now;
  bool owes = owed == Owed::kNow || (owed == Owed::kSoon && now - began_ns_ >= kSoonNs);
  if (fits_ && !owes && !rivals.offers(now)) {
    relax();
    return true;
  }
  sched_yield();
  looked_ns_ = now_ns();
  if (owes) return true;
  rivals.offered(looked_ns_ - now, looked_ns_);
  if (fits_) count_offer();
  return true;
}

// Whether the caller had better sleep.
bool Backoff::is_long(std::uint64_t now_ns) const {
  std::uint64_t waited_ns = now_ns - began_ns_;
  if (fits_ && waited_ns >= keeps_ns_) return true;
  bool kept = rivals.keeps(now_ns);
  if (fits_) return waited_ns >= (kept ? kYieldNs : kAloneNs);
  return kept || (waited_ns >= kYieldNs && rounds_ >= kSpins + kYields);
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

void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::uint64_t keeps_ns) {
  Backoff backoff(keeps_ns);
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
