#include "platform/short_slice.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace terrane::platform {
namespace {

// struct sched_attr of sched_setattr(2), which the C library does not declare.
struct SchedAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;
  std::uint64_t deadline;
  std::uint64_t period;
};
static_assert(sizeof(SchedAttributes) == 48);  // SCHED_ATTR_SIZE_VER0

constexpr std::uint32_t kSchedOther = 0;
constexpr std::uint64_t kShortest_ns = 100'000;

}  // namespace

void ask_for_short_slices() {
  SchedAttributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != kSchedOther) return;  // the user has chosen another
  attributes.size = sizeof attributes;
  attributes.runtime = kShortest_ns;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace terrane::platform
