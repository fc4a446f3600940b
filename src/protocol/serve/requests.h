#pragma once

#include "protocol/serve/served.h"
#include "protocol/steps/atomic.h"

// What a node whose home cannot be reached asks it, as messages, and what the answers mean to the
// step that waits for them.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Of a kFetch or kPostFetch.
inline wire::PageFetch fetch_request(const Step& step, WaiterId waiter) {
  return {.blocks = static_cast<std::uint8_t>(step.blocks.count),
          .how = static_cast<std::uint8_t>(step.value),
          .waiter = waiter.value,
          .block = step.blocks.first};
}
inline std::uint64_t result_of(const wire::PageData& answer) {
  if (answer.blocks == 0) return fetched_nothing(NodeId{answer.promised}, answer.alike);
  return fetched(answer.tracked & 0xffff, answer.blocks, answer.own != 0, answer.promised);
}

// Of a kAskAtomic.
inline wire::AtomicRequest atomic_request(const Step& step, const AtomicOp& op, WaiterId waiter) {
  return {.operation = static_cast<std::uint8_t>(op.kind),
          .size = op.size,
          .waiter = waiter.value,
          .block = step.blocks.first,
          .offset = op.offset,
          .via = static_cast<std::uint32_t>(step.value) - 1,
          .operand = op.operand,
          .expected = op.expected};
}
inline AtomicOp operation_of(const wire::AtomicRequest& request) {
  return {static_cast<AtomicKind>(request.operation), request.size, request.offset, request.operand,
          request.expected};
}
inline std::uint64_t result_of(const wire::AtomicReply& answer) {
  if (answer.done != 0) return kAtomicDone;
  return answer.ask == kNoNode.value ? kAtomicNotYet : std::uint64_t{answer.ask};
}

// Of a kLoadOwner or kClaimOwner.
inline wire::OwnerRequest owner_request(const Step& step, WaiterId waiter) {
  bool claims = step.kind == StepKind::kClaimOwner;
  return {.blocks = static_cast<std::uint8_t>(step.blocks.count),
          .waiter = waiter.value,
          .block = step.blocks.first,
          .claim = claims ? static_cast<std::uint32_t>(step.value) : 0};
}
inline std::uint64_t result_of(const wire::OwnerReply& answer) {
  return answer.owner | std::uint64_t{answer.alike} << 32;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
