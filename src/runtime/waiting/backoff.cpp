#include "runtime/waiting/backoff.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "platform/wait.h"
#include "runtime/waiting/competitors.h"

namespace terrane::runtime::waiting {
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

// The calling thread's switches in favour of others, as it counted them last.
struct Switches {
  std::uint64_t counted_ns = 0;
  long count = 0;

  // Whether there were any since then.
  bool grew(std::uint64_t now_ns) {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    counted_ns = now_ns;
    return std::exchange(count, used.ru_nivcsw) != used.ru_nivcsw;
  }
};
thread_local Switches switches;

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

// A thread that lost its processor often finds what it waited for as soon as it has it back.
Backoff::~Backoff() {
  if (looked_ns_ != 0) look_for_competitors(platform::now_ns());
}

bool Backoff::is_short() const {
  return looks_ < kSpins && threads_fit_processors() &&
         chosen_mode.load(std::memory_order_relaxed) != Mode::kSleep;
}

void Backoff::renew() {
  looks_ = std::min(looks_, kSpins);
  looked_ns_ = 0;
}

void Backoff::restart() { looks_ = 0, looked_ns_ = 0; }

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
    began_ns_ = now;
  }
  if (looked_ns_ == 0) looked_ns_ = now;
  look_for_competitors(now);
  looked_ns_ = now;
  switch (decide({.mode = mode,
                  .fits = fits_,
                  .competition = competitors.at(now),
                  .handler = handler,
                  .waited_ns = now - began_ns_,
                  .looks = looks_ - kSpins,
                  .longest_ns = longest_ns_})) {
    case Action::kSleep:
      looked_ns_ = 0;
      looks_ = std::max(looks_, kSpins + 1);
      return false;
    case Action::kSpin:
      relax();
      break;
    case Action::kYield:
      sched_yield();
      looked_ns_ = platform::now_ns();
      if (handler == HandlerNeed::kNothing) competitors.yielded(looked_ns_ - now, looked_ns_);
      break;
  }
  ++looks_;
  return true;
}

void Backoff::look_for_competitors(std::uint64_t now_ns) {
  std::uint64_t gap_ns = now_ns - looked_ns_;
  if (gap_ns < kLostNs && now_ns - switches.counted_ns < kCountSwitchesNs) return;
  bool switched = switches.grew(now_ns);
  if (gap_ns >= kLostNs) competitors.lost(switched, gap_ns, now_ns);
}

void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::uint64_t longest_ns) {
  Backoff backoff(longest_ns);
  while (word.load(std::memory_order_acquire) == expected) {
    if (!backoff.pause()) platform::futex_wait(word, expected, 0);
  }
}

}  // namespace terrane::runtime::waiting
