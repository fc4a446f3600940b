#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/node/node_state.h"
#include "protocol/push/subscribers.h"
#include "protocol/serve/server.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The home's side of subscriptions: those of readers to blocks of this node, and the pushes at each
// barrier exit. Owns the server of other nodes' requests.
class Pushes {
 public:
  Pushes(NodeState& node, const BlockMemory& memory)
      : node_(node),
        subscribers_(node.config.tunables.unused_pushes != 0, node.config.nodes),
        server_({.self = node.config.self,
                 .entries = memory.entries,
                 .clusters = &node.core.clusters(),
                 .nodes = node.config.nodes,
                 .check_races = node.config.check_races,
                 .blocks = node.config.blocks,
                 .block_bytes = node.config.block_bytes,
                 .push_arity = node.config.push_arity,
                 .most_sent = node.config.most_sent,
                 .sent_whole = node.config.sent_whole},
                subscribers_) {}
  Pushes(const Pushes&) = delete;

  // Chooses the subscribed blocks that can go with this node's arrival, in a job of two nodes. Then
  // the barrier exit carries them, and no message follows it. If the nodes acquired nothing from
  // each other except at barrier exits since the exit before, neither knows of anything newer than
  // what the sender had when it arrived, except for what the reader wrote.
  std::vector<std::uint64_t> choose_for_arrival();
  // Pushes the subscribed blocks at a barrier exit: by then all that was to be flushed for it is at
  // the homes. Takes no lock, so nodes that wait for each other's pushes do not wait for ever.
  // stands: the reader may use what went with the arrival. If not, it has dropped that, and it is
  // pushed again.
  Task<> send_pushes(Strand& s, std::uint32_t barrier_exit,
                     const std::vector<std::uint64_t>& with_arrival, bool stands, Bytes notices);
  // Serves the nodes that cannot reach this node's memory.
  Server& server() { return server_; }

 private:
  static bool is_any_sent(const std::vector<std::uint64_t>& with_arrival, BlockRange run);
  bool was_sent(const std::vector<std::uint64_t>& with_arrival, Bytes notices,
                BlockRange run) const;
  BlockRange take_readers(std::span<const Subscribed> due, std::vector<NodeId>& readers) const;

  NodeState& node_;
  Subscribers subscribers_;
  Server server_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
