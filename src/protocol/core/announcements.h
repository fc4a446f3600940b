#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "protocol/core/interval_log.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What fences tell (hlrc/fences.h). A node announces to all others the intervals that it knows and
// of which it does not know that all have heard. Each keeps the announcement for its own next fence
// and answers at once; when all have answered, the node says so. An announcement is *complete* at a
// node that knows that all have heard it.
// A node whose memory all others reach counts its announcements there instead, each before it is
// sent. A fence looks at these counts first, and waits until what was counted has come: so such an
// announcement needs no answer, and is complete at once. That a node sees the count, its first
// answer says.
class Announcements {
 public:
  // most_kept: bytes of announcements that are kept, about. Beyond, they become one that names no
  // blocks, so that the next fence drops all copies.
  // seen: by node, whether this one sees its count.
  Announcements(NodeId self, std::uint32_t nodes, std::uint64_t blocks, std::size_t most_kept,
                std::vector<bool> seen, const IntervalLog& log, Outbox& outbox);

  static constexpr std::uint64_t kCountFirst = 2;
  void announce(const Announce& event);
  void next(const NextAnnounced& event);
  void await(const AwaitAnnounced& event);
  // This node knows more intervals than before.
  void log_grew();
  // From the network; false: malformed.
  bool received(NodeId from, Bytes message);

  // Whether announce() and next() would find nothing to do. Any thread may ask. Another thread's
  // step may change it at any time.
  bool is_quiet() const { return quiet_.load(std::memory_order_acquire); }
  // Whether so many counted announcements have come from the node. Any thread may ask.
  bool have_come(NodeId from, std::uint32_t count) const {
    std::uint32_t come = counted_[from.value].load(std::memory_order_acquire);
    return static_cast<std::int32_t>(come - count) >= 0;
  }
  void check_invariants() const;

 private:
  struct Heard {
    VectorTimestamp reach;  // the intervals that its sender knew
    std::vector<std::byte> notices;
  };
  using Kept = std::deque<Heard>;

  bool covers(const VectorTimestamp& known) const;
  bool others_will_cover() const;
  void begin();
  void tell_counted();
  std::vector<std::byte> message(const VectorTimestamp& reach, bool counted) const;
  void send_all(const std::vector<std::byte>& message);
  void end();
  void resume_all();
  bool received_announcement(NodeId from, Bytes message);
  bool received_answer(NodeId from, Bytes message);
  bool received_end(NodeId from, Bytes message);
  bool is_whole(const Heard& heard) const;
  Kept::const_iterator next_whole() const;
  void count(NodeId from);
  void keep(Heard heard);
  void keep_names_alone();
  void look_quiet();

  NodeId self_;
  std::uint32_t nodes_;
  std::uint64_t blocks_;
  std::size_t most_kept_;
  std::vector<bool> seen_;
  const IntervalLog& log_;
  Outbox& outbox_;
  VectorTimestamp covered_;  // intervals that all nodes know, or have heard of
  Kept heard_;               // what this node has heard and does not know yet, in order
  std::size_t kept_ = 0;     // bytes of their notices
  // By node: the reach of its announcement that is not complete here; empty: there is none.
  std::vector<VectorTimestamp> incomplete_;
  VectorTimestamp sent_;           // the reach of our announcement under way
  std::vector<bool> answers_;      // by node: its answer is missing
  std::uint32_t missing_ = 0;      // how many of these; 0: no announcement of ours is under way
  std::vector<WaiterId> waiters_;  // resumed when any announcement is complete
  std::vector<bool> see_count_;    // by node: it sees our count
  std::uint32_t blind_;            // how many do not, as far as we know
  std::vector<std::atomic<std::uint32_t>> counted_;  // by node: its counted announcements that came
  std::vector<AwaitAnnounced> awaited_;
  std::atomic<bool> quiet_{true};
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
