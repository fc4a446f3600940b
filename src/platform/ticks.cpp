#include "platform/ticks.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "platform/wait.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kRateNs = 1'000'000'000;  // the rate is taken over so long, or longer

// A kernel that has found the counters of two processors apart, or a hypervisor that moves the
// machine to processors of another rate, takes another clock.
bool kernel_counts_ticks() {
  constexpr std::string_view kWants =
#if defined(__x86_64__)
      "tsc\n";
#elif defined(__aarch64__)
      "arch_sys_counter\n";
#else
      "none";
#endif
  int fd = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[32];
  ssize_t size = ::read(fd, text, sizeof text);
  ::close(fd);
  return size > 0 && std::string_view(text, static_cast<std::size_t>(size)) == kWants;
}

std::uint64_t counter() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return now_ns();
#endif
}

// Decided once: ticks of both kinds must not be compared.
const bool counts = kernel_counts_ticks();

}  // namespace

std::uint64_t ticks() { return counts ? counter() : now_ns(); }

// A thread that lost its processor in between would be wrong by that.
TickScale::Mark TickScale::mark_now() {
  Mark best{};
  std::uint64_t least = ~0ull;
  for (int i = 0; i < 5; ++i) {
    std::uint64_t before = ticks(), ns = now_ns(), took = ticks() - before;
    if (took < least) best = {before + took / 2, ns};
    if (took < least) least = took;
  }
  return best;
}

void TickScale::mark() {
  if (to_.ns - from_.ns >= kRateNs) from_ = to_;
  to_ = mark_now();
  if (to_.ticks > from_.ticks)
    ns_per_tick_ =
        static_cast<double>(to_.ns - from_.ns) / static_cast<double>(to_.ticks - from_.ticks);
}

}  // namespace terrane::platform
