#include "protocol/core/offer_requests.h"

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

void OfferRequests::ask(const AskOffer& event) {
  TERRANE_CHECK(event.home != self_, "a home is asked by others");
  if (event.waiter != kNobody) expect(event);
  wire::put(outbox_.begin(), wire::OfferRequest{.wish = static_cast<std::uint8_t>(event.wish),
                                                .waiter = event.waiter.value,
                                                .first = event.run.first,
                                                .blocks = event.run.count});
  outbox_.send(event.home);
}

void OfferRequests::expect(const AskOffer& event) {
  if (asked_.size() <= event.waiter.value) asked_.resize(event.waiter.value + 1, kNoNode);
  TERRANE_CHECK(asked_[event.waiter.value] == kNoNode, "a thread asks for one thing at a time");
  asked_[event.waiter.value] = event.home;
}

bool OfferRequests::received_request(NodeId from, Bytes message, std::uint64_t blocks) {
  wire::OfferRequest request;
  if (!wire::take(message, request) || !message.empty() || request.blocks == 0 ||
      request.blocks > wire::kMostOffered || request.first >= blocks ||
      request.blocks > blocks - request.first ||
      request.wish > static_cast<std::uint8_t>(OfferWish::kStays) ||
      (request.wish == static_cast<std::uint8_t>(OfferWish::kStays) && request.blocks != 1)) {
    return false;
  }
  outbox_.offer({from,
                 WaiterId{request.waiter},
                 {request.first, request.blocks},
                 static_cast<OfferWish>(request.wish)});
  return true;
}

void OfferRequests::made(const OfferMade& event) {
  if (event.waiter == kNobody) return;
  wire::put(outbox_.begin(),
            wire::OfferReply{.waiter = event.waiter.value, .blocks = event.blocks});
  outbox_.send(event.to);
}

bool OfferRequests::received_reply(NodeId from, Bytes message) {
  wire::OfferReply reply;
  if (!wire::take(message, reply) || !message.empty()) return false;
  if (reply.waiter >= asked_.size() || asked_[reply.waiter] != from) return false;
  asked_[reply.waiter] = kNoNode;
  outbox_.resume_plain(WaiterId{reply.waiter}, reply.blocks);
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
