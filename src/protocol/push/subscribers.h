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

// A run that a home pushes to a reader at a barrier exit.
struct Subscribed {
  BlockRange run;
  NodeId reader;

  bool operator==(const Subscribed&) const = default;
};

// The home side of subscriptions: the duty to push the blocks of a run to a reader at each of this
// node's barrier exits, until the reader ends it. The thread that serves messages calls make() and
// end(), one call at a time; threads at barrier exits call begin_exit(), due() and keep(). Owns the
// list of subscriptions, which grows as needed up to a bound that depends on the number of nodes. A
// reader that gets no subscription continues to send requests.
class Subscribers {
 public:
  static constexpr std::size_t kSlots = 64;  // slots that exist from the beginning
  static constexpr std::uint64_t kMaxFirst = (1ull << 40) - 1;

  // any: whether there are subscriptions at all; nodes: of the job.
  Subscribers(bool any, std::uint32_t nodes)
      : most_(any ? std::max(kRunsSubscribed * nodes, kLeastSubscribed) : 0) {}

  // Subscribes the reader to the run, for the barrier exits after the latest one that has begun.
  // Result: the number of that exit + 1, or 0: no subscription. The reader's subscriptions to runs
  // within this one end with that exit.
  std::uint64_t make(NodeId reader, BlockRange run);
  // The reader does not expect the run any more. Called before the reader asks for it again.
  void end(NodeId reader, BlockRange run);
  // Barrier exit `number` begins: what was subscribed to before is due at it. Called before due().
  void begin_exit(std::uint32_t number);
  // The pushes of one barrier exit have been sent.
  void keep();
  // What to push at this barrier exit, sorted by block (the order in which readers use it) and by
  // reader.
  std::vector<Subscribed> due(std::uint32_t number);
  // The same, slot by slot: other threads may make and end subscriptions between two slots.
  std::size_t slots() const { return slots_.load(); }
  bool may_be_due(std::size_t index, std::uint32_t number) {
    return slot(index).until.load() >= number;
  }
  std::optional<Subscribed> due_at(std::size_t index, std::uint32_t number);
  static void sort(std::vector<Subscribed>& due);

  // The same for the next barrier exit, as far as it is known before it.
  std::vector<Subscribed> due_next() { return due(begun_exits_.load() + 1); }

 private:
  struct Slot {
    std::atomic<std::uint64_t> what{0};   // reader << 48 | first block << 8 | blocks
    std::atomic<std::uint32_t> until{0};  // the last barrier exit; free when that is over
  };

  static constexpr std::size_t kParts = 16;  // after first_; each as large as all before it

  Slot& slot(std::size_t index);
  Slot* slot_for(std::uint64_t what);
  Slot* grow();

  std::size_t most_;
  std::atomic<std::uint32_t> begun_exits_{0};  // the latest exit that has begun
  std::atomic<std::uint32_t> done_{0};         // how many exits are over
  std::atomic<std::uint32_t> kept_{0};         // all exits up to this one are over
  std::atomic<std::size_t> slots_{kSlots};
  Slot first_[kSlots];
  std::vector<Slot> parts_[kParts];
};

// The reader side: the runs that homes push to this node. A subscription ends if this node has not
// used it for some barrier exits.
class SubscribedRuns {
 public:
  struct Ended {
    NodeId home;
    BlockRange run;

    bool operator==(const Ended&) const = default;
  };

  // most_unused: how many barrier exits in a row a subscription may be unused.
  explicit SubscribedRuns(std::uint32_t most_unused) : most_unused_(most_unused) {}

  // `home` pushes the run at the barrier exits after number `after`.
  void note(NodeId home, BlockRange run, std::uint32_t after);
  // Ends a subscription that is not wanted, or that may have ended since it was made.
  void refuse(NodeId home, BlockRange run) { end({{home, run}}); }
  // Whether a subscription to the run, or to one that contains it, is about to end.
  bool ends(NodeId home, BlockRange run) const;
  // Whether `home` pushes a longer run that contains this one.
  bool comes_within(NodeId home, BlockRange run) const;
  // Whether `home` pushes the run, perhaps within a longer one, at barrier exit `number`.
  bool covers(NodeId home, BlockRange run, std::uint32_t number) const;
  // At that barrier exit: how many of the run's first blocks the home pushes together or, if it
  // does not push the first one, how many it does not push.
  std::uint64_t sent_together(NodeId home, BlockRange run, std::uint32_t number) const;
  // The run was refreshed at this barrier exit.
  void use(NodeId home, BlockRange run);
  // The home cannot push the run any more: ends the subscription. The reader then asks, and
  // subscribes to what is left.
  void give_up(NodeId home, BlockRange run);
  // The barrier exit has been applied: forgets what ended before it, and what was unused for long.
  void end_exit(std::uint32_t number);
  // The subscriptions that ended here since the last call; their homes do not know it yet.
  std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }
  bool empty() const { return list_.empty(); }
  // Whether any home may have sent a push, expected or not.
  bool may_have_come() const { return noted_; }

 private:
  struct Expected {
    NodeId home;
    BlockRange run;
    std::uint32_t after;
    std::uint32_t until;  // kForever, or the exit after which a longer run replaces it
    std::uint32_t unused = 0;

    // Whether the home pushes the run at barrier exit `number`.
    bool is_of(std::uint32_t number) const { return after < number && number <= until; }
  };
  static constexpr std::size_t kMost = 4096;

  static bool is_before(const Expected& a, const Expected& b);
  std::span<const Expected> near(NodeId home, BlockRange run) const;
  std::span<Expected> near(NodeId home, BlockRange run);
  void end(const std::vector<Ended>& all);

  std::uint32_t most_unused_;
  bool noted_ = false;          // whether there ever was a subscription
  std::vector<Expected> list_;  // by home, and by first block
  std::uint64_t longest_ = 1;   // no run in list_ has more blocks
  std::vector<Ended> ended_;
};

// The subscriptions that misses have made, until an acquire takes them over: misses do not take the
// consistency lock. If this node has ended a subscription since the miss asked, that may have been
// the same one. By any thread; take() and ending() by one thread at a time.
class MissSubscriptions {
 public:
  struct Made {
    NodeId home;
    BlockRange run;
    std::uint32_t after = 0;
    bool predicted = false;  // as SubscriptionPlan (predict/predictor.h)
    bool is_valid = false;   // no subscription has ended here since the miss asked
  };

  // A place for a subscription that a miss is about to ask for. nullopt: it must not ask.
  std::optional<std::size_t> reserve();
  void fill(std::size_t place, const Made& made);
  void release(std::size_t place) { places_[place].state.store(kFree); }
  // A subscription that was made since the last call; nullopt: there is none.
  std::optional<Made> take();
  // Called before and after the messages that end subscriptions at homes.
  void ending(bool begins) {
    ends_.fetch_add(1);
    TERRANE_CHECK((ends_.load() % 2 != 0) == begins, "one at a time ends promises");
  }

 private:
  enum State : std::uint32_t { kFree, kReserved, kMade };
  struct Place {
    std::atomic<std::uint32_t> state{kFree};
    std::uint32_t ends = 0;  // `ends_` before the miss asked
    Made made;
  };
  static constexpr std::size_t kPlaces = 64;

  std::atomic<std::uint32_t> ends_{0};  // calls of ending(); odd: messages are under way
  std::atomic<std::uint32_t> made_{0};
  Place places_[kPlaces];
};

// Pushes that have arrived, until the barrier exit at which they were sent is applied here.
class PushBox {
 public:
  struct Push {
    NodeId from;
    std::uint32_t number = 0;  // of the barrier exit
    BlockRange run;
    std::uint32_t tracked = 0;  // a bit for each block that its home tracks
    std::uint32_t same = 0;     // a bit for each block that was sent as its version alone
    bool gone = false;          // the home has sent no bytes: it has to be asked
    std::vector<std::uint32_t> versions;
    std::vector<std::byte> bytes;  // of the blocks that are not `same`

    std::uint32_t version_of(std::uint64_t block) const { return versions[block - run.first]; }
    // Of a block that is not `same`.
    const std::byte* bytes_of(std::uint64_t block, std::uint64_t block_bytes) const {
      std::uint64_t at = mutant(Mutant::kPushOfOtherBlocks) ? 0 : block - run.first;
      int left_out = std::popcount(same & ((1u << at) - 1));
      return bytes.data() + (at - static_cast<std::uint64_t>(left_out)) * block_bytes;
    }
    bool is_tracked(std::uint64_t block) const { return tracked >> (block - run.first) & 1; }
    bool is_same(std::uint64_t block) const { return same >> (block - run.first) & 1; }
  };
  // False: the box is full, so a home sends more than this node subscribed to.
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
  // Finds the home's blocks `part` in one or several pushes of that barrier exit, and puts their
  // versions into `versions`. Calls stage(index in the part, bytes) for each block that has bytes.
  // nullopt: not all of them are here yet.
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
  // Forgets the pushes of barrier exits up to this one.
  void forget(std::uint32_t number);
  void clear() { list_.clear(); }

 private:
  static constexpr std::size_t kMost = 1 << 16;

  bool find(NodeId from, BlockRange part, std::uint32_t number);
  const Push* find(NodeId from, std::uint64_t block, std::uint32_t number);
  bool is_gone() const;

  std::vector<Push> list_;
  std::size_t latest_ = 0;          // of the push found last; the next one mostly follows it
  std::vector<const Push*> found_;  // by find(): the pushes that contain the part, sorted by block
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
