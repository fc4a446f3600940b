#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/cgroup_memory.h"
#include "platform/memory_left.h"
#include "platform/wait.h"
#include "runtime/page_space.h"
#include "runtime/statistics.h"

// Which pages and twins of a node have memory, and how much that may be.
namespace terrane::runtime {

void PageSpace::bound(const std::vector<MemoryShare>& shares, Exhausted exhausted) {
  const MemoryShare& own = shares[self_.value];
  if (own.limit_bytes != ~0ull) limit_blocks_ = own.limit_bytes / unit_;
  if (most_blocks_.empty()) most_blocks_ = std::vector<std::atomic<std::uint64_t>>(shares.size());
  for (std::size_t n = 0; n < shares.size(); ++n) {
    std::uint64_t bytes = shares[n].home_bytes;
    most_blocks_[n] = bytes == ~0ull ? ~0ull : (bytes + bytes / 8) / unit_;
  }
  if (own.home_bytes == own.limit_bytes) had_until_ = ~0ull;  // no other node on the machine
  if (exhausted) exhausted_ = std::move(exhausted);
}

// A node that exceeds its own share takes memory that other nodes do not use, while there is some.
bool PageSpace::machine_has_more(std::uint64_t kept) {
  if (kept < limit_blocks_ || kept < had_until_.load(std::memory_order_relaxed)) return true;
  std::uint64_t left =
      std::min(platform::memory_left_bytes(), platform::cgroup_memory_left()) / unit_;
  if (left < limit_blocks_ / 64) return false;
  had_until_.store(kept + left / 64, std::memory_order_relaxed);
  return true;
}

bool PageSpace::populate(protocol::BlockRange blocks) {
  Control& own = peers_[self_.value].control;
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    protocol::BlockRange run{b, 0};
    while (run.end() < blocks.end() && !own.populated.contains(run.end())) ++run.count;
    if (run.count == 0) continue;
    std::uint64_t kept = own.kept->load(std::memory_order_relaxed);
    bool fits = most_blocks_.empty() || kept + run.count <= most_blocks_[self_.value];
    if (!fits || !machine_has_more(kept)) {
      errno = ENOMEM;
      return false;
    }
    if (!mapping_.reserve(span(run))) return false;
    // Another node may have stored to a home of this node at the same time.
    std::uint64_t fresh = 0;
    for (std::uint64_t p = run.first; p < run.end(); ++p) {
      fresh += !own.populated.insert(p);
      fresh_.insert(p);
      known_.insert(p);
    }
    kept = own.kept->fetch_add(fresh, std::memory_order_relaxed) + fresh;
    if (kept * unit_ >= growth_.look_at_bytes.load(std::memory_order_relaxed)) {
      growth_.look_at_bytes.store(~0ull, std::memory_order_relaxed);
      growth_.wakes.fetch_add(1);
      platform::futex_wake_all(growth_.wakes);
    }
    b = run.end();  // which is populated, or past the end
  }
  return true;
}

// Whether the home may keep one more page. For another node, waits while that home's handler thread
// makes room. For this node, does not wait, because it may be serving a message; its limit is then
// a little higher (kServedBytes).
bool PageSpace::waits_for_room(const Control& control, NodeId home) const {
  constexpr int kMostMs = 3000;
  constexpr std::uint64_t kServedBytes = std::uint64_t{4} << 20;
  if (most_blocks_.empty()) return true;
  std::uint64_t most = most_blocks_[home.value], limit = limit_blocks_;
  if (home == self_ && limit != ~0ull) most = std::max(most, limit + kServedBytes / unit_);
  for (int ms = 0; control.kept->load(std::memory_order_relaxed) >= most; ++ms) {
    if (home == self_ || ms == kMostMs) return false;
    ::usleep(1000);
  }
  return true;
}

// Called before a difference is stored in a page that may have no memory at its home.
void PageSpace::back_home(NodeId home, std::uint64_t block) {
  Control& control = control_of(home);
  if (control.populated.contains(block)) return;
  bool fits = waits_for_room(control, home);
  if (!fits || !give_memory(control, home, block)) {
    if (exhausted_) exhausted_(home, block);
  }
}

// The same without waiting; false: the home may keep no more pages.
bool PageSpace::populate_home(NodeId home, std::uint64_t block) {
  Control& control = control_of(home);
  if (control.populated.contains(block)) return true;
  bool fits = most_blocks_.empty() ||
              control.kept->load(std::memory_order_relaxed) < most_blocks_[home.value];
  return fits && give_memory(control, home, block);
}

bool PageSpace::give_memory(Control& control, NodeId home, std::uint64_t block) {
  if (!platform::populate(pages_of(home) + block * unit_, unit_)) return false;
  if (!control.populated.insert(block)) control.kept->fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Stores whole pages in our memory. Pages that were never touched are written by system calls, each
// for adjacent pages: so the kernel zeroes no page in vain, and there is no fault.
void PageSpace::write_pages(protocol::BlockRange blocks, const std::byte* from) {
  for (std::uint64_t b = blocks.first; b < blocks.end();) {
    bool fresh = fresh_.contains(b);
    std::uint64_t end = b + 1;
    while (end < blocks.end() && fresh_.contains(end) == fresh) ++end;
    const std::byte* source = from + (b - blocks.first) * unit_;
    for (std::uint64_t p = b; fresh && p < end; ++p) fresh_.erase(p);
    if (fresh) {
      mapping_.write(b * unit_, source, (end - b) * unit_);
    } else {
      std::memcpy(mapping_.runtime() + b * unit_, source, (end - b) * unit_);
    }
    b = end;
  }
}

void PageSpace::add_twin(std::uint64_t block) {
  if (twinned_.contains(block) || twinned_.insert(block)) return;
  peers_[self_.value].control.kept->fetch_add(1, std::memory_order_relaxed);
}

void PageSpace::punch(protocol::BlockRange blocks, bool evicted, Counters& counters) {
  Control& own = peers_[self_.value].control;
  std::uint64_t gone = 0;
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    if (!known_.contains(b)) known_.insert(b);
    if (!own.populated.contains(b)) continue;
    own.populated.erase(b);
    fresh_.erase(b);
    ++gone;
    if (evicted && counters.sites != nullptr) counters.sites->note_evicted(b);
  }
  own.kept->fetch_sub(gone, std::memory_order_relaxed);
  if (evicted) counters.pages_evicted.add(gone);
  // Also if nothing was populated: a reader may have touched a page at the same time.
  mapping_.punch(span(blocks));
  drop_twins(blocks);
}

void PageSpace::drop_twins(protocol::BlockRange blocks) {
  std::uint64_t gone = 0;
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    if (!twinned_.contains(b)) continue;
    twinned_.erase(b);
    ++gone;
  }
  if (gone == 0) return;
  peers_[self_.value].control.kept->fetch_sub(gone, std::memory_order_relaxed);
  std::byte* begin = twins_.data() + blocks.first * unit_;
  if (::madvise(begin, blocks.count * unit_, MADV_DONTNEED) == 0 || errno != EINVAL) return;
  ::munlock(twins_.data(), twins_.bytes());  // the program has locked all of its memory
  ::madvise(begin, blocks.count * unit_, MADV_DONTNEED);
}

}  // namespace terrane::runtime
