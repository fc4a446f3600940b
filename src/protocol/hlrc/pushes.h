#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/hlrc/node_state.h"
#include "protocol/push/subscribers.h"
#include "protocol/serve/server.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The home's side of what homes send unasked: the subscriptions of readers to blocks of this node,
// and the pushes at each departure. Owns the server of other nodes'
// requests.
class Pushes {
 public:
  Pushes(NodeState& node, const BlockMemory& memory)
      : node_(node),
        subscribers_(node.config.tunables.unused_pushes != 0, node.config.nodes),
        server_({.self = node.config.self,
                 .entries = memory.entries,
                 .clusters = &node.core.clusters(),
                 .nodes = node.config.nodes,
                 .blocks = node.config.blocks,
                 .block_bytes = node.config.block_bytes,
                 .push_arity = node.config.push_arity,
                 .most_sent = node.config.most_sent,
                 .sent_whole = node.config.sent_whole},
                subscribers_) {}
  Pushes(const Pushes&) = delete;

  // What this node's subscribers want that can go with its arrival at the other of two nodes: then
  // the departure brings it, and no message after it. If they acquired nothing from each other but
  // by departures since the one before, nobody knows of anything newer than what it had when it
  // arrived, but for what the reader wrote.
  std::vector<std::uint64_t> choose_for_arrival();
  // Pushes what this node's subscribers want at a departure: by now all that was to be flushed for
  // it is at the homes. Takes no lock, so that no node that waits for a push waits for one that
  // waits for its own. What went with the arrival, and may not be taken, its reader has not kept.
  Task<> send_pushes(Strand& s, std::uint32_t departure,
                     const std::vector<std::uint64_t>& with_arrival, bool stands, Bytes notices);
  // What this node does for others that cannot reach its memory.
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
