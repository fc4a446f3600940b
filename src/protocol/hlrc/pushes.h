#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/hlrc/node_state.h"
#include "protocol/push/promises.h"
#include "protocol/serve/server.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The home's side of what homes send unasked: the subscriptions of readers to blocks of this node,
// and the pushes at each departure that they are promised. Owns the server of other nodes'
// requests.
class Pushes {
 public:
  Pushes(NodeState& node, const BlockMemory& memory)
      : node_(node),
        promises_(node.config.tunables.promised != 0, node.config.nodes),
        server_({.self = node.config.self,
                 .entries = memory.entries,
                 .nodes = node.config.nodes,
                 .blocks = node.config.blocks,
                 .block_bytes = node.config.block_bytes,
                 .push_arity = node.config.push_arity,
                 .most_sent = node.config.most_sent,
                 .sent_whole = node.config.sent_whole},
                promises_) {}
  Pushes(const Pushes&) = delete;

  // What of this node's promises can go with its arrival at the other of two nodes: then the
  // departure brings it, and no message after it. If they acquired nothing from each other but by
  // departures since the one before, nobody knows of anything newer than what it had when it
  // arrived, but for what the reader wrote.
  std::vector<std::uint64_t> select_along();
  // Keeps this node's promises for a departure: by now all that was to be flushed for it is at the
  // homes. Takes no lock, so that nobody who waits for news waits for one that waits for his. What
  // went along, and does not stand, its reader has not kept.
  Task<> send_news(Strand& s, std::uint32_t departure, const std::vector<std::uint64_t>& along,
                   bool stands);
  // What this node does for others that cannot reach its memory.
  Server& server() { return server_; }

 private:
  static bool any_along(const std::vector<std::uint64_t>& along, BlockRange run);
  bool went_along(const std::vector<std::uint64_t>& along, Bytes notices, BlockRange run) const;
  BlockRange take_readers(std::span<const Promised> due, std::vector<NodeId>& readers) const;

  NodeState& node_;
  Promises promises_;
  Server server_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
