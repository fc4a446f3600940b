#include "protocol/core/notice_requests.h"

#include <cstring>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

void NoticeRequests::ask(const AskNotices& event) {
  TERRANE_CHECK(event.node != self_, "a node knows what it knows");
  if (asked_.size() <= event.waiter.value) asked_.resize(event.waiter.value + 1, kNoNode);
  TERRANE_CHECK(asked_[event.waiter.value] == kNoNode, "a thread asks for one thing at a time");
  asked_[event.waiter.value] = event.node;
  auto& out = outbox_.begin();
  wire::put(out, wire::NoticeRequest{.waiter = event.waiter.value});
  put_bytes(out, std::as_bytes(std::span(log_.timestamp())));
  outbox_.send(event.node);
}

bool NoticeRequests::received_request(NodeId from, Bytes message) {
  wire::NoticeRequest request;
  if (!wire::take(message, request) || message.size() != nodes_ * sizeof(std::uint32_t))
    return false;
  VectorTimestamp known(nodes_);
  std::memcpy(known.data(), message.data(), message.size());
  auto& out = outbox_.begin();
  wire::put(out, wire::NoticeReply{.waiter = request.waiter});
  log_.write_since(known, out);
  outbox_.send(from);
  return true;
}

bool NoticeRequests::received_reply(NodeId from, Bytes message) {
  wire::NoticeReply reply;
  if (!wire::take(message, reply) || reply.waiter >= asked_.size() ||
      asked_[reply.waiter] != from || !log_.believable(message, self_, blocks_)) {
    return false;
  }
  asked_[reply.waiter] = kNoNode;
  put_bytes(outbox_.begin(), message);
  outbox_.resume(WaiterId{reply.waiter}, 0);
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
