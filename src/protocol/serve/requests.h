#pragma once

#include "protocol/steps/step_kinds.h"

// The requests that a node sends to a home whose memory it cannot reach, as messages, and what the
// answers mean to the step that waits for them.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Bits of wire::PageFetch::how.
inline constexpr std::uint8_t kFollows = 1;
inline constexpr std::uint8_t kMayTake = 2;
inline constexpr std::uint8_t kAgain = 4;  // the high half: for how many blocks, - 1
inline constexpr std::uint8_t written(const FetchWish& wish) {
  std::uint32_t again = wish.again == 0 ? 0 : kAgain | (wish.again - 1) << 4;
  return static_cast<std::uint8_t>(again | (wish.follows ? kFollows : 0) |
                                   (wish.may_take ? kMayTake : 0));
}
inline constexpr FetchWish wish_of(std::uint8_t how) {
  return {.follows = (how & kFollows) != 0,
          .may_take = (how & kMayTake) != 0,
          .again = how & kAgain ? (how >> 4 & 15u) + 1 : 0};
}

// The request of a Fetch or PostFetch.
template <typename Kind>
wire::PageFetch request_of(const Kind& step, WaiterId waiter) requires requires {
  step.wish;
}
{
  return {.blocks = static_cast<std::uint8_t>(step.blocks.count),
          .how = written(step.wish),
          .waiter = waiter.value,
          .block = step.blocks.first};
}
inline FetchResult result_of(const wire::PageData& answer) {
  if (answer.blocks == 0) return {.ask = NodeId{answer.subscribed}, .same = answer.same_owner};
  return {.count = answer.blocks,
          .tracked = answer.tracked & 0xffff,
          .own = answer.own != 0,
          .subscribed = answer.subscribed};
}

inline wire::AtomicRequest request_of(const AskAtomic& step, WaiterId waiter) {
  return {.operation = static_cast<std::uint8_t>(step.op.kind),
          .size = step.op.size,
          .waiter = waiter.value,
          .block = step.block.value,
          .offset = step.op.offset,
          .via = step.via.value,
          .operand = step.op.operand,
          .expected = step.op.expected};
}
inline AtomicOp operation_of(const wire::AtomicRequest& request) {
  return {static_cast<AtomicKind>(request.operation), request.size, request.offset, request.operand,
          request.expected};
}
inline wire::AtomicReply reply_of(const AtomicAnswer& answer, const wire::AtomicRequest& request) {
  using enum AtomicAnswer::What;
  return {.done = answer.what == kDone,
          .waiter = request.waiter,
          .block = request.block,
          .before = answer.before,
          .ask = answer.what == kElsewhere ? answer.ask.value : kNoNode.value};
}
inline AtomicAnswer result_of(const wire::AtomicReply& answer) {
  using enum AtomicAnswer::What;
  if (answer.done != 0) return {.what = kDone, .before = answer.before};
  return {.what = answer.ask == kNoNode.value ? kNotYet : kElsewhere, .ask = NodeId{answer.ask}};
}

inline wire::OwnerRequest request_of(const LoadOwner& step, WaiterId waiter) {
  return {.waiter = waiter.value, .block = step.block.value};
}
inline wire::OwnerRequest request_of(const ClaimOwner& step, WaiterId waiter) {
  return {.blocks = static_cast<std::uint8_t>(step.blocks.count),
          .waiter = waiter.value,
          .block = step.blocks.first,
          .claim = step.entry};
}
inline Owner result_of(const wire::OwnerReply& answer) { return {answer.owner, answer.same_owner}; }

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
