#pragma once

#include <unordered_map>

#include "protocol/core/lock_manager.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A node's part in the counts of the job (Count): what the holder of a count's token does with the
// count, and the sleepers of this node. A thread that changes a count wakes the sleepers whose
// number the count has reached; those of other nodes by a message with the notices that their nodes
// do not know.
class Counts {
 public:
  Counts(NodeId self, std::uint64_t blocks, const IntervalLog& log, LockManager& locks,
         Outbox& outbox)
      : self_(self), blocks_(blocks), log_(log), locks_(locks), outbox_(outbox) {}

  void change(const CountChange& event);
  void await(LockId count, std::int64_t until, WaiterId waiter);
  void sleep(WaiterId waiter);
  void expire(WaiterId waiter);
  void give_up(const CountGiveUp& event);
  // From the network; false: malformed.
  bool received(Bytes message);

 private:
  struct Sleep {
    LockId count;
    enum class State : std::uint8_t { kComing, kWoken, kAsleep } state = State::kComing;
    Woken by = Woken::kHere;           // how it was woken, if it was
    std::vector<std::byte> notices{};  // the notices that came with the wake
  };

  void wake_reached(Count& count);
  bool wake(WaiterId waiter, Woken by, Bytes notices);
  void resume(WaiterId waiter, Woken by, Bytes notices);

  NodeId self_;
  std::uint64_t blocks_;
  const IntervalLog& log_;
  LockManager& locks_;
  Outbox& outbox_;
  std::unordered_map<std::uint32_t, Sleep> sleepers_;  // this node's, by waiter
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
