#include "runtime/memory_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/cgroup_memory.h"
#include "platform/memory_left.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kLookNs = 1'000'000'000, kShortNs = 100'000'000;
constexpr std::uint64_t kStepBytes = 4 << 20;
constexpr std::uint32_t kPatience = 30;  // looks of a node that is short
// What a machine without any memory left gets back by one look.
constexpr std::int64_t kMissing = 16 << 20;

std::int64_t machine_headroom() {
  std::uint64_t left = platform::memory_left_bytes();
  return left == 0 ? -kMissing : static_cast<std::int64_t>(std::min(left, ~std::uint64_t{0} >> 4));
}

}  // namespace

void MemoryWatch::start(const MemoryShare& at_start, std::uint32_t sharers, Growth& growth,
                        Duties duties) {
  if (at_start.limit_bytes == ~0ull) return;
  at_start_ = now_ = at_start;
  sharers_ = std::max<std::uint32_t>(sharers, 1);
  growth_ = &growth;
  duties_ = std::move(duties);
  thread_ = platform::start_without_signals([this] { run(); });
}

void MemoryWatch::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  growth_->wakes.fetch_add(1);
  platform::futex_wake_all(growth_->wakes);
  thread_.join();
}

// Looks again when the node has grown by a thirty-second of its share, or 4 MiB: a control group
// may have shrunk since the last look.
void MemoryWatch::run() {
  const std::uint64_t step = std::min<std::uint64_t>(at_start_.limit_bytes / 32, kStepBytes);
  bool is_short = false;
  while (!stopping_) {
    std::uint32_t seen = growth_->wakes.load();
    growth_->look_at_bytes.store(duties_.kept_bytes() + step, std::memory_order_relaxed);
    platform::futex_wait(growth_->wakes, seen, is_short ? kShortNs : kLookNs);
    if (!stopping_) is_short = look();
  }
}

// Whether the node keeps more than it may.
bool MemoryWatch::look() {
  std::int64_t headroom = std::min(machine_headroom(), platform::cgroup_headroom());
  if (headroom < 0) headroom /= sharers_;
  std::uint64_t kept = duties_.kept_bytes();
  MemoryShare share = share_now(at_start_, kept, headroom);
  if (share.limit_bytes != now_.limit_bytes || share.home_bytes != now_.home_bytes)
    duties_.bound(now_ = share);
  bool is_less = share.limit_bytes < at_start_.limit_bytes;
  if (!is_less || kept <= share.limit_bytes) return false;
  // Pages that are in use at the moment may stay a little.
  duties_.shrink();
  std::uint64_t still = duties_.kept_bytes();
  if (still <= share.limit_bytes) return false;
  in_vain_ = still < kept ? 0 : in_vain_ + 1;
  if (in_vain_ == kPatience)
    duties_.report(fmt::format(
        "the memory of this host, or the limit of its control group, has shrunk: {} MiB of shared "
        "pages may stay here, {} MiB are here, and no other node has room for the rest; use more "
        "nodes",
        share.limit_bytes >> 20, still >> 20));
  return true;
}

}  // namespace terrane::runtime
