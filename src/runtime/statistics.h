#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/ids.h"
#include "protocol/steps/block_set.h"
#include "protocol/steps/effects.h"
#include "runtime/counters.h"
#include "runtime/hot_pages.h"
#include "runtime/page_writes.h"

namespace terrane::runtime {

class SharingWatch;

// Counts of what happened to pages, for each kStretch bytes of the shared space; `--stats` adds
// them up for each allocation. Memory is allocated at the first use of a part. Any thread may call.
class SiteCounters {
 public:
  static constexpr std::uint64_t kStretch = 64 << 10;
  struct Site {
    std::atomic<std::uint32_t> faults, fetched, zeros, refreshed;  // pages
    std::atomic<std::uint64_t> flushed;                            // bytes
    std::atomic<std::uint64_t> waited_ns;                          // of threads in faults
  };
  // Bytes of pages and differences that went to another node or came from it.
  struct Moved {
    std::atomic<std::uint64_t> sent{0}, came{0};
  };

  SiteCounters(std::uint64_t space_bytes, std::uint64_t unit_bytes, std::uint32_t nodes);
  ~SiteCounters();
  SiteCounters(const SiteCounters&) = delete;

  Site& of(std::uint64_t block) {
    std::uint64_t number = block * unit_ / kStretch;
    std::atomic<bool>& used = used_[number / kGroup];
    if (!used.load(std::memory_order_relaxed)) used.store(true, std::memory_order_relaxed);
    return sites_[number];
  }
  // Calls `call` with the first block and the counts of each stretch that has counts.
  void for_each(const std::function<void(std::uint64_t, const Site&)>& call) const;
  PageWrites& writes() { return writes_; }
  // From now on it is watched why pages come again. Before threads count here.
  void watch_sharing(std::unique_ptr<SharingWatch> watch);
  // nullptr: it is not watched.
  SharingWatch* sharing() const { return sharing_.get(); }
  // From now on the pages that cost most are counted, each by itself. Any thread, also later.
  HotPages& watch_pages();
  // A thread was in a fault for so long, for the byte at the offset in shared memory; zeros: it got
  // a page of zeros.
  void note_fault(std::uint64_t offset, bool zeros, std::uint64_t ns);
  // Changes went to the home; those of others came with the copy of a page that stays.
  void note_flushed(std::uint64_t block, std::uint64_t bytes, NodeId to);
  void note_refreshed(std::uint64_t block);
  // Pages came from other nodes; a copy went because memory was short.
  void note_fetched(protocol::BlockRange blocks, NodeId from);
  void note_evicted(std::uint64_t block) {
    if (evicted_words_ != nullptr) evicted_.insert(block);
  }
  const std::vector<Moved>& moved() const { return moved_; }  // by node
  // Pages that were fetched again after they were evicted.
  std::uint64_t refetched() const { return refetched_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kGroup = 4096;

  std::uint64_t unit_, count_;
  Site* sites_ = nullptr;
  std::vector<std::atomic<bool>> used_;  // by kGroup stretches
  PageWrites writes_;
  std::vector<Moved> moved_;
  std::unique_ptr<SharingWatch> sharing_;
  std::mutex watching_;
  std::unique_ptr<HotPages> owned_hot_;
  std::atomic<HotPages*> hot_{nullptr};  // nullptr: nobody watches the node
  std::uint64_t evicted_bytes_ = 0;
  void* evicted_words_ = nullptr;
  protocol::BlockSet evicted_;  // and not fetched since
  std::atomic<std::uint64_t> refetched_{0};
};

// The cost of acquiring each lock. Any thread may call.
class LockCounters {
 public:
  struct Lock {
    std::atomic<std::uint64_t> id{0};
    std::atomic<std::uint64_t> acquires{0}, remote{0}, wait_ns{0}, dropped{0}, refreshed{0};
  };

  LockCounters() : locks_(kRoom) {}
  // The counts of a lock. Locks that find no room share one entry, others().
  Lock& of(LockId id);
  const std::vector<Lock>& all() const { return locks_; }
  const Lock& others() const { return others_; }

 private:
  static constexpr std::size_t kRoom = 4096, kProbes = 64;

  std::vector<Lock> locks_;
  Lock others_;
};

// The lines of a report; times in seconds.
struct ThreadLine {
  std::string name;
  double lived = 0, pages = 0, locks = 0, barriers = 0, serves = 0, protocol = 0;
  std::uint64_t faults = 0, fetched = 0, zeros = 0, flushed_bytes = 0, refreshed = 0, scans = 0,
                idle_scans = 0;
  bool is_of_program = true;  // false: a thread of the runtime, which computes nothing
};
struct SiteLine {
  std::string name;
  std::uint64_t bytes = 0, faults = 0, fetched = 0, zeros = 0, flushed_bytes = 0, refreshed = 0;
};
struct LockLine {
  std::string name;
  std::uint64_t acquires = 0, remote = 0, dropped = 0, refreshed = 0;
  double wait = 0;
};

// The report of one node, several lines. Of each kind the kMostLines that cost most.
std::string statistics_text(const std::string& node, std::vector<ThreadLine> threads,
                            std::vector<SiteLine> sites, std::vector<LockLine> locks);

}  // namespace terrane::runtime
