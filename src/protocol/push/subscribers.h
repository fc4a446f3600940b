#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "protocol/predict/tunables.h"
#include "protocol/push/push_tree.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/step_kinds.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A run that is sent to a reader at a departure.
struct Subscribed {
  BlockRange run;
  NodeId reader;

  bool operator==(const Subscribed&) const = default;
};

// What a home has promised to readers that renew copies by messages: to send the blocks of a run
// again, unasked, at each of its departures, until the reader ends that. Subscribers are made and
// ended by the thread that serves messages, one at a time, and kept by the threads that depart; all
// else is of one thread. Owns the list, which grows as it is needed and is bounded by the nodes: a
// reader that gets no promise goes on asking.
class Subscribers {
 public:
  static constexpr std::size_t kSlots = 64;  // that are there from the beginning
  static constexpr std::uint64_t kMaxFirst = (1ull << 40) - 1;

  // any: whether anything is promised; nodes: of the job.
  Subscribers(bool any, std::uint32_t nodes)
      : most_(any ? std::max(kRunsSubscribed * nodes, kLeastSubscribed) : 0) {}

  // Subscribers the run to the reader for the departures after the returned one. Result: that
  // departure's number + 1, or 0: no promise. Runs within it are not promised any more, after that
  // departure.
  std::uint64_t make(NodeId reader, BlockRange run);
  // The reader does not expect the run any more, before it asks for it again.
  void end(NodeId reader, BlockRange run);
  // From here on promises are kept for departure `number` too; before due() is asked.
  void depart(std::uint32_t number);
  // One departure's promises have been kept.
  void keep();
  // What is to be kept at this departure: by block, which is the order that readers take it in, and
  // by reader.
  std::vector<Subscribed> due(std::uint32_t number);

  // ... at the next departure, as far as is known before it.
  std::vector<Subscribed> due_next() { return due(departed_.load() + 1); }

 private:
  struct Slot {
    std::atomic<std::uint64_t> what{0};   // reader << 48 | first block << 8 | blocks
    std::atomic<std::uint32_t> until{0};  // the last departure; free once that is over
  };

  static constexpr std::size_t kParts = 16;  // behind the first slots; each as large as all before

  Slot& slot(std::size_t index);
  Slot* slot_for(std::uint64_t what);
  Slot* grow();

  std::size_t most_;
  std::atomic<std::uint32_t> departed_{0};  // the latest that has begun
  std::atomic<std::uint32_t> done_{0};      // how many are over
  std::atomic<std::uint32_t> kept_{0};      // all up to this one are over
  std::atomic<std::size_t> slots_{kSlots};
  Slot first_[kSlots];
  std::vector<Slot> parts_[kParts];
};

// The other side: what homes have promised to this node, until it has made no use of it for some
// departures.
class SubscribedRuns {
 public:
  struct Ended {
    NodeId home;
    BlockRange run;

    bool operator==(const Ended&) const = default;
  };

  // most_unused: departures on end, until an expectation ends.
  explicit SubscribedRuns(std::uint32_t most_unused) : most_unused_(most_unused) {}

  void note(NodeId home, BlockRange run, std::uint32_t after);
  // The same is not wanted, or may have been ended since: it ends.
  void refuse(NodeId home, BlockRange run) { end({{home, run}}); }
  // Whether it is about to end, or was promised within what is.
  bool ends(NodeId home, BlockRange run) const;
  // Whether `home` sends a longer run that the run is a part of.
  bool comes_within(NodeId home, BlockRange run) const;
  // Whether `home` sends the run, perhaps within a longer one, at departure `number` in any case.
  bool covers(NodeId home, BlockRange run, std::uint32_t number) const;
  // How many of the run's first blocks the home sends together at that departure, or does not send.
  std::uint64_t sent_together(NodeId home, BlockRange run, std::uint32_t number) const;
  // The run was renewed at this departure.
  void use(NodeId home, BlockRange run);
  // The home cannot send the run any more: the reader goes on asking, and is promised what is left.
  void give_up(NodeId home, BlockRange run);
  // The departure has been applied: forgets what ended before, and what has been unused for long.
  void depart(std::uint32_t number);
  // What was forgotten here since the last call, and the homes do not know of.
  std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }
  bool empty() const { return list_.empty(); }
  // Whether homes may have sent something, expected or not.
  bool may_have_come() const { return noted_; }

 private:
  struct Expected {
    NodeId home;
    BlockRange run;
    std::uint32_t after;
    std::uint32_t until;  // for ever, or where a longer run has taken its place
    std::uint32_t unused = 0;

    // Whether it comes at departure `number`.
    bool is_of(std::uint32_t number) const { return after < number && number <= until; }
  };
  static constexpr std::size_t kMost = 4096;

  static bool stands_before(const Expected& a, const Expected& b);
  std::span<const Expected> near(NodeId home, BlockRange run) const;
  std::span<Expected> near(NodeId home, BlockRange run);
  void end(const std::vector<Ended>& all);

  std::uint32_t most_unused_;
  bool noted_ = false;          // any, ever
  std::vector<Expected> list_;  // by home, and by first block
  std::uint64_t longest_ = 1;   // of its runs, at most
  std::vector<Ended> ended_;
};

// Subscribers that misses were given, until an acquire takes them up, since misses do without its
// lock. Where this node has ended some promise since the miss asked, that may have been the same
// one. By any thread; take() and ending() by one at a time.
class MissSubscriptions {
 public:
  struct Made {
    NodeId home;
    BlockRange run;
    std::uint32_t after = 0;
    bool predicted = false;  // as SubscriptionPlan (predict/predictor.h)
    bool stands = false;
  };

  // A place for a promise that is about to be asked for; nullopt: it is not to be.
  std::optional<std::size_t> reserve();
  void fill(std::size_t place, const Made& made);
  void release(std::size_t place) { places_[place].state.store(kFree); }
  // One that was made since the last call.
  std::optional<Made> take();
  // Around what tells homes that promises end.
  void ending(bool begins) {
    ends_.fetch_add(1);
    TERRANE_CHECK((ends_.load() % 2 != 0) == begins, "one at a time ends promises");
  }

 private:
  enum State : std::uint32_t { kFree, kReserved, kMade };
  struct Place {
    std::atomic<std::uint32_t> state{kFree};
    std::uint32_t ends = 0;  // as it was before the promise was asked for
    Made made;
  };
  static constexpr std::size_t kPlaces = 64;

  std::atomic<std::uint32_t> ends_{0};  // begun and over; odd: one is under way
  std::atomic<std::uint32_t> made_{0};
  Place places_[kPlaces];
};

// Blocks that homes have sent unasked, until the departure that they were sent at is applied here.
class PushBox {
 public:
  struct Push {
    NodeId from;
    std::uint32_t number = 0;  // of the departure
    BlockRange run;
    std::uint32_t tracked = 0;  // a bit for each block
    std::uint32_t same = 0;     // ... that is as it was sent by its version before
    bool gone = false;          // the home has not sent them: it has to be asked
    std::vector<std::uint32_t> versions;
    std::vector<std::byte> bytes;  // of those that are not the same

    std::uint32_t version_of(std::uint64_t block) const { return versions[block - run.first]; }
    // Of one that is not the same.
    const std::byte* bytes_of(std::uint64_t block, std::uint64_t block_bytes) const {
      std::uint64_t at = mutant(Mutant::kNewsOfOtherBlocks) ? 0 : block - run.first;
      int left_out = std::popcount(same & ((1u << at) - 1));
      return bytes.data() + (at - static_cast<std::uint64_t>(left_out)) * block_bytes;
    }
    bool is_tracked(std::uint64_t block) const { return tracked >> (block - run.first) & 1; }
    bool is_same(std::uint64_t block) const { return same >> (block - run.first) & 1; }
  };
  // False: more than anybody sends who keeps his promises.
  bool put(Push push);
  bool put(const PushPart& part) {
    return put({.from = NodeId{part.head.home},
                .number = part.head.number,
                .run = {part.head.block, part.head.blocks},
                .tracked = part.head.tracked,
                .same = part.head.same,
                .gone = part.head.gone != 0,
                .versions = part.versions,
                .bytes = {part.bytes.begin(), part.bytes.end()}});
  }
  // The home's blocks `part` of that departure, which one push or several ones contain, with their
  // versions. stage(index in the part, bytes) is called for each that has bytes. nullopt: not all
  // of them are here yet.
  template <typename Stage>
  std::optional<TakenPush> take(NodeId from, BlockRange part, std::uint32_t number,
                                std::uint64_t block_bytes, std::vector<std::uint32_t>& versions,
                                Stage stage) {
    if (!find(from, part, number)) return std::nullopt;
    TakenPush taken{.gone = is_gone()};
    if (taken.gone) return taken;
    versions.resize(part.count);
    for (std::uint64_t i = 0, piece = 0; i < part.count; ++i) {
      std::uint64_t block = part.first + i;
      if (block >= found_[piece]->run.end()) ++piece;
      const Push& push = *found_[piece];
      versions[i] = push.version_of(block);
      if (push.is_tracked(block)) taken.tracked |= 1u << i;
      if (push.is_same(block)) {
        taken.same |= 1u << i;
      } else {
        stage(i, push.bytes_of(block, block_bytes));
      }
    }
    return taken;
  }
  // Forgets what was sent at departures up to this one.
  void forget(std::uint32_t number);
  void clear() { list_.clear(); }

 private:
  static constexpr std::size_t kMost = 1 << 16;

  bool find(NodeId from, BlockRange part, std::uint32_t number);
  const Push* find(NodeId from, std::uint64_t block, std::uint32_t number);
  bool is_gone() const;

  std::vector<Push> list_;
  std::size_t latest_ = 0;          // found last, for the next is mostly behind it
  std::vector<const Push*> found_;  // by find(): which contain the part, in the order of blocks
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
