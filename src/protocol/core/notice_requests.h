#pragma once

#include <vector>

#include "protocol/core/interval_log.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Requests for the intervals that another node knows. A thread that gets a synchronisation page
// asks the node that wrote it last (sc/pages.h); the answer is what a lock's grant would carry.
class NoticeRequests {
 public:
  NoticeRequests(NodeId self, std::uint32_t nodes, std::uint64_t blocks, const IntervalLog& log,
                 Outbox& outbox)
      : self_(self), nodes_(nodes), blocks_(blocks), log_(log), outbox_(outbox) {}

  void ask(const AskNotices& event);
  // From the network; false: malformed.
  bool received_request(NodeId from, Bytes message);
  bool received_reply(NodeId from, Bytes message);

 private:
  NodeId self_;
  std::uint32_t nodes_;
  std::uint64_t blocks_;
  const IntervalLog& log_;
  Outbox& outbox_;
  // By waiter of this node: the node that it has asked and that has not answered, or kNoNode. A
  // vector, since the requester is in a fault, where nothing is allocated once it is large enough.
  std::vector<NodeId> asked_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
