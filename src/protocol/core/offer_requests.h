#pragma once

#include <vector>

#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Requests for offers. A node that writes in order what another node wrote first asks that home to
// offer it the next blocks, so that it need not flush them there (hlrc/offers.h). The home offers
// them at once or not at all: the requester waits only for the answer.
class OfferRequests {
 public:
  OfferRequests(NodeId self, Outbox& outbox) : self_(self), outbox_(outbox) {}

  void ask(const AskOffer& event);
  void made(const OfferMade& event);
  // From the network; false: malformed.
  bool received_request(NodeId from, Bytes message, std::uint64_t blocks);
  bool received_reply(NodeId from, Bytes message);

 private:
  void expect(const AskOffer& event);

  NodeId self_;
  Outbox& outbox_;
  // By waiter of this node: the node that it has asked and that has not answered, or kNoNode. A
  // vector, since the requester is in a fault, where nothing is allocated once it is large enough.
  std::vector<NodeId> asked_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
