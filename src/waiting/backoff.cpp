#include "waiting/backoff.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "platform/wait.h"
#include "waiting/competitors.h"

namespace terrane::waiting {
namespace {

// Set once at start; true until then.
std::atomic<bool> threads_fit{true};
std::atomic<Mode> chosen_mode{Mode::kAdaptive};
Competitors competitors;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// The calling thread has yielded for competing processes, which may no longer exist.
void count_yield() {
  thread_local std::uint32_t yields = 0;
  thread_local long switches = 0;
  if (++yields % kYieldsCounted != 0) return;
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  if (std::exchange(switches, used.ru_nivcsw) == used.ru_nivcsw) competitors.refused();
}

}  // namespace

void share_processors(std::uint32_t threads, std::uint32_t processors) {
  threads_fit.store(threads <= processors, std::memory_order_relaxed);
}

bool threads_fit_processors() { return threads_fit.load(std::memory_order_relaxed); }

void choose_mode(Mode mode) { chosen_mode.store(mode, std::memory_order_relaxed); }

std::optional<Mode> mode_named(std::string_view name) {
  if (name == "auto") return Mode::kAdaptive;
  if (name == "spin") return Mode::kSpin;
  if (name == "sleep") return Mode::kSleep;
  return std::nullopt;
}

bool Backoff::is_short() const {
  return looks_ < kSpins && threads_fit_processors() &&
         chosen_mode.load(std::memory_order_relaxed) != Mode::kSleep;
}

void Backoff::restart() { looks_ = std::min(looks_, kSpins); }

bool Backoff::pause(HandlerNeed handler) {
  Mode mode = chosen_mode.load(std::memory_order_relaxed);
  if (mode == Mode::kSleep) return false;
  if (looks_ < kSpins) {
    if (handler != HandlerNeed::kNow && threads_fit_processors()) {
      ++looks_;
      relax();
      return true;
    }
    looks_ = kSpins;
  }
  std::uint64_t now = platform::now_ns();
  if (looks_ == kSpins) {
    fits_ = threads_fit_processors();
    began_ns_ = looked_ns_ = now;
  }
  Action action = decide({.mode = mode,
                          .fits = fits_,
                          .competition = competitors.at(now),
                          .handler = handler,
                          .waited_ns = now - began_ns_,
                          .looks = looks_ - kSpins,
                          .longest_ns = longest_ns_,
                          .crowded_ns = crowded_ns_});
  if (action == Action::kSleep) return false;
  if (fits_ && now - looked_ns_ >= kLostNs) competitors.lost(now);
  looked_ns_ = now;
  ++looks_;
  if (action == Action::kSpin) {
    relax();
    return true;
  }
  sched_yield();
  looked_ns_ = platform::now_ns();
  if (handler != HandlerNeed::kNothing) return true;
  competitors.yielded(looked_ns_ - now, looked_ns_);
  if (fits_) count_yield();
  return true;
}

void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::uint64_t longest_ns) {
  Backoff backoff(longest_ns);
  while (word.load(std::memory_order_acquire) == expected) {
    if (!backoff.pause()) platform::futex_wait(word, expected, 0);
  }
}

}  // namespace terrane::waiting
