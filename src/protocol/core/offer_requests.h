#pragma once

#include <vector>

#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A node that writes in order what another node wrote first asks that home to offer what follows,
// in place of flushing it there (hlrc/offers.h). The home does so if it can at once: nobody waits
// for more than the answer.
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
  // By waiter, of this node: the node that it has asked and not heard from, or kNoNode. The
  // requester is in the middle of a fault, where nothing is allocated when warm.
  std::vector<NodeId> asked_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
