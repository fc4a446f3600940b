#pragma once

#include <atomic>
#include <vector>

#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a node knows of the room for homes at the others: what their last answers said. Any thread
// may read it, as a guess.
class NodeRooms {
 public:
  static constexpr std::uint32_t kWhole = 64;  // rooms are in 64ths of a node's limit

  explicit NodeRooms(std::uint32_t nodes) : rooms_(nodes) {
    for (auto& room : rooms_) room.store(kWhole, std::memory_order_relaxed);
  }

  // kWhole: the node has not answered yet.
  std::uint32_t of(NodeId node) const { return rooms_[node.value].load(std::memory_order_relaxed); }
  // Blocks that other nodes were asked to adopt and have not answered for.
  std::uint64_t under_way() const { return under_way_.load(std::memory_order_relaxed); }
  // Homes that other nodes have adopted so far.
  std::uint64_t given() const { return given_.load(std::memory_order_relaxed); }

 private:
  friend class AdoptionRequests;

  std::vector<std::atomic<std::uint8_t>> rooms_;  // by node
  std::atomic<std::uint64_t> under_way_{0};
  std::atomic<std::uint64_t> given_{0};
};

// Requests to adopt homes. A node whose memory is full asks a node with room to become the home of
// some of its blocks (hlrc/adoptions.h). That node answers when it has taken them, or at once.
class AdoptionRequests {
 public:
  AdoptionRequests(NodeId self, std::uint32_t nodes, Outbox& outbox)
      : self_(self), outbox_(outbox), rooms_(nodes), unawaited_(nodes) {}

  void ask(const AskAdoption& event);
  void made(const AdoptionMade& event);
  // One waiter at a time.
  void await(WaiterId waiter);
  // From the network; false: malformed.
  bool received_request(NodeId from, Bytes message, std::uint64_t blocks);
  bool received_reply(NodeId from, Bytes message);
  const NodeRooms& rooms() const { return rooms_; }

 private:
  bool was_asked(NodeId from, const wire::AdoptReply& reply);

  struct Asked {
    NodeId node = kNoNode;
    std::uint64_t blocks = 0;
  };

  NodeId self_;
  Outbox& outbox_;
  NodeRooms rooms_;
  // By waiter of this node: whom it has asked. A vector, since the requester is in a fault, where
  // nothing is allocated once it is large enough.
  std::vector<Asked> asked_;
  WaiterId waits_for_all_ = kNobody;
  std::vector<std::uint64_t> unawaited_;  // by node: blocks of requests for which nobody waits
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
