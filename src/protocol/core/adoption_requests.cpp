#include "protocol/core/adoption_requests.h"

#include <utility>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

void AdoptionRequests::ask(const AskAdoption& event) {
  TERRANE_CHECK(event.node != self_, "a node asks others to adopt its homes");
  if (event.waiter == kNobody) {
    unawaited_[event.node.value] += event.run.count;
  } else {
    if (asked_.size() <= event.waiter.value) asked_.resize(event.waiter.value + 1);
    Asked& asked = asked_[event.waiter.value];
    TERRANE_CHECK(asked.node == kNoNode, "a thread asks for one thing at a time");
    asked = {event.node, event.run.count};
  }
  rooms_.under_way_.fetch_add(event.run.count, std::memory_order_relaxed);
  wire::put(outbox_.begin(), wire::AdoptRequest{.presses = static_cast<std::uint8_t>(event.presses),
                                                .waiter = event.waiter.value,
                                                .first = event.run.first,
                                                .blocks = event.run.count});
  outbox_.send(event.node);
}

bool AdoptionRequests::received_request(NodeId from, Bytes message, std::uint64_t blocks) {
  wire::AdoptRequest request;
  if (!wire::take(message, request) || !message.empty() || request.presses > 1 ||
      request.blocks == 0 || request.blocks > wire::kMostAdopted || request.first >= blocks ||
      request.blocks > blocks - request.first) {
    return false;
  }
  outbox_.adopt(
      {from, WaiterId{request.waiter}, {request.first, request.blocks}, request.presses != 0});
  return true;
}

void AdoptionRequests::made(const AdoptionMade& event) {
  wire::put(outbox_.begin(), wire::AdoptReply{.room = static_cast<std::uint8_t>(event.room),
                                              .waiter = event.waiter.value,
                                              .blocks = static_cast<std::uint32_t>(event.blocks),
                                              .taken = static_cast<std::uint32_t>(event.taken)});
  outbox_.send(event.to);
}

void AdoptionRequests::await(WaiterId waiter) {
  if (rooms_.under_way() == 0) return outbox_.resume_plain(waiter, 0);
  waits_for_all_ = waiter;
}

bool AdoptionRequests::received_reply(NodeId from, Bytes message) {
  wire::AdoptReply reply;
  if (!wire::take(message, reply) || !message.empty() || reply.taken > reply.blocks ||
      reply.room > NodeRooms::kWhole || !was_asked(from, reply))
    return false;
  rooms_.rooms_[from.value].store(reply.room, std::memory_order_relaxed);
  rooms_.under_way_.fetch_sub(reply.blocks, std::memory_order_relaxed);
  rooms_.given_.fetch_add(reply.taken, std::memory_order_relaxed);
  WaiterId waiter{reply.waiter};
  if (waiter != kNobody) outbox_.resume_plain(waiter, reply.taken);
  bool all = rooms_.under_way() == 0 && waits_for_all_ != kNobody;
  if (all) outbox_.resume_plain(std::exchange(waits_for_all_, kNobody), 0);
  return true;
}

bool AdoptionRequests::was_asked(NodeId from, const wire::AdoptReply& reply) {
  if (WaiterId{reply.waiter} == kNobody) {
    if (unawaited_[from.value] < reply.blocks) return false;
    unawaited_[from.value] -= reply.blocks;
    return true;
  }
  if (reply.waiter >= asked_.size()) return false;
  Asked& asked = asked_[reply.waiter];
  if (asked.node != from || asked.blocks != reply.blocks) return false;
  asked = {};
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
