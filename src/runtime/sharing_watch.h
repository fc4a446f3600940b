#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/ids.h"
#include "platform/wait.h"
#include "protocol/steps/effects.h"

namespace terrane::runtime {

// Bytes of a page, a bit each: byte i is bit i % 64 of word i / 64.
using PageMask = std::vector<std::uint64_t>;

// What other nodes had changed in a page that came here again, beside what this node had written to
// it since it came last: other bytes (false sharing), some of the same bytes, or this node had
// written nothing.
enum class SharingKind : std::uint32_t { kApart, kSame, kRead };
constexpr std::size_t kSharingKinds = 3;

// What a node has seen of a page. Sent between nodes as it is.
struct SharingCounts {
  std::uint64_t block = 0;
  std::uint64_t again[kSharingKinds] = {};  // how often it came with changes of others
  std::uint64_t unchanged = 0;              // how often it came with the bytes that were here
  std::uint64_t flushed = 0;                // differences that this node has sent
  std::uint64_t waited_ns = 0;              // of threads: in faults, and in steps for the page
  // The node that sent it then, which is the home; kNone: none, kSeveral: not always the same.
  std::uint32_t homes[kSharingKinds] = {kNone, kNone, kNone};
  std::uint32_t pad = 0;

  static constexpr std::uint32_t kNone = ~0u, kSeveral = ~0u - 1;
  SharingKind kind() const;  // the most frequent
  std::uint64_t changed() const { return again[0] + again[1] + again[2]; }
};

struct SharingRecord {
  SharingCounts counts;
  // Of the arrivals of counts.kind(): what this node had written, and what others had changed.
  PageMask mine, theirs;
  PageMask written;  // all that this node has sent
};

// Watches why pages come to a node again (`--check=sharing`): compares what comes with what this
// node had, and with what it has written meanwhile. Only looks: no step of the protocol depends on
// it. Any thread may call; in the fault path, so that all memory is made at the start.
class SharingWatch {
 public:
  // How much of a page's events is looked at. kAll: from the kFirst-th on. kSome: for a report that
  // must cost little: kMostLooks arrivals from the kFirstOfSome-th event on; then each kSampled-th
  // event counts as that many of the most frequent kind of those.
  enum class Looks { kAll, kSome };
  SharingWatch(std::uint32_t nodes, std::size_t page_bytes, Looks looks = Looks::kAll);
  ~SharingWatch();
  SharingWatch(const SharingWatch&) = delete;

  // A page is about to replace what this node has of it. before: nullptr: nothing.
  void arrives(std::uint64_t block, NodeId home, const std::byte* before, const std::byte* now);
  // The same for a page that waits in the staging buffer, in two parts. home: kNoNode: not known.
  void sends(protocol::BlockRange blocks, NodeId home);
  void merges(std::uint64_t block, const std::byte* before, const std::byte* now);
  // This node stores at the home what differs in its copy from `other`: the twin, or what the home
  // has. Or it sends this difference.
  void flushes(std::uint64_t block, const std::byte* page, const std::byte* other);
  void flushes(std::uint64_t block, std::span<const std::byte> difference);
  // A thread was in a fault for so long, or in a step for the page. came: a page was fetched.
  void waited(std::uint64_t block, std::uint64_t ns, bool came);

  // The pages that cost most, at most `most`.
  std::vector<SharingRecord> records(std::size_t most);
  // Pages that came for the first time: from which node, and how long threads waited for them.
  std::uint64_t first_from(NodeId home) const { return first_from_[home.value].load(); }
  std::uint64_t first_ns() const { return first_ns_.load(); }
  // Pages of which nothing is recorded, because there was no room.
  std::uint64_t left_out() const { return left_out_.load(); }

  // An event of a page is recorded from this one on: what fills it at the start says nothing.
  static constexpr std::uint8_t kFirst = 4, kFirstOfSome = 32;
  static constexpr std::uint64_t kMostLooks = 8, kFlushesALook = 4;
  // A prime, so that all of a round's events have their turn.
  static constexpr std::uint64_t kSampled = 7;

 private:
  static constexpr std::size_t kBytes = 16 << 20;  // of all records
  static constexpr std::size_t kMasks = 7;
  static constexpr std::uint32_t kEmpty = 0;

  // A record: counts, then kMasks masks: since the last arrival, all that was sent, mine by kind
  // (there is none of kRead), theirs by kind.
  struct Head {
    SharingCounts counts;
    std::uint32_t home = SharingCounts::kNone;  // of the copy in the staging buffer
    std::uint32_t stands_for = 0;               // so many such copies
  };

  std::atomic<std::uint8_t>& seen(std::uint64_t block);
  std::uint64_t stands_for(std::uint8_t events) const;
  std::uint64_t counts(std::uint64_t block);
  void sample(std::uint64_t block);
  Head& record(std::size_t number) const;
  std::uint64_t* mask(Head& head, std::size_t which) const;
  Head* find(std::uint64_t block, bool makes);
  void note_arrival(Head& head, std::uint64_t times, const std::byte* before, const std::byte* now);
  void note_flush(std::uint64_t block, std::span<const std::uint64_t> changed);
  bool is_known(const SharingCounts& counts) const;
  bool counts_known_flush(std::uint64_t block, std::uint64_t times);

  const std::size_t page_bytes_, words_, stride_, room_;
  const std::uint8_t first_;
  const std::uint64_t most_looks_;
  std::byte* memory_ = nullptr;  // room_ records
  std::mutex mutex_;             // of the records and slots_
  std::size_t used_ = 0;
  std::vector<std::uint32_t> slots_;  // number of a record + 1, by hash
  // By hash of the page: its events up to first_ - 1; from first_ on, where in the turn of kSampled
  // events it is.
  std::vector<std::atomic<std::uint8_t>> seen_;
  std::vector<std::uint64_t> changed_;  // one mask; under the mutex
  std::vector<std::atomic<std::uint64_t>> first_from_;
  std::atomic<std::uint64_t> first_ns_{0}, left_out_{0};
};

// Counts what a step takes, for a page. watch: nullptr: it is not counted.
class WatchedTime {
 public:
  WatchedTime(SharingWatch* watch, std::uint64_t block)
      : watch_(watch), block_(block), since_ns_(watch == nullptr ? 0 : platform::now_ns()) {}
  ~WatchedTime() {
    if (watch_ != nullptr) watch_->waited(block_, platform::now_ns() - since_ns_, false);
  }
  WatchedTime(const WatchedTime&) = delete;

 private:
  SharingWatch* watch_;
  std::uint64_t block_, since_ns_;
};

}  // namespace terrane::runtime
