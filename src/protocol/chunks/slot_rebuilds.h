#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "protocol/chunks/chunk_directory.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The slots that came to this home because their homes died. Rebuilds their part of the directory
// from the reports of all nodes, gets the bytes from nodes that have them, and defers what nodes
// ask meanwhile. Owns what was reported of the slots, and the deferred messages.
class SlotRebuilds {
 public:
  struct Deferred {
    NodeId from;
    ChunkMessage message;
    std::vector<std::byte> tail;
  };

  SlotRebuilds(ChunkDirectory& directory, HomeMemory& memory, const View& view, ChunkOutbox& outbox)
      : directory_(directory), memory_(memory), view_(view), outbox_(outbox) {}

  // Whether some nodes have not reported yet: entries are incomplete.
  bool awaits_reports(std::uint32_t slot) const;
  // Begins with the slots that are new here since view `before`, and does not wait for the dead.
  // Returns the slots that wait for no report any more.
  std::vector<std::uint32_t> view_changed(std::uint32_t before);
  // False: malformed.
  bool report(NodeId from, const ChunkMessage& message, Bytes tail);
  // Whether the slot has waited for this report alone.
  bool report_ended(NodeId from, std::uint32_t slot);
  // All have reported: finds the owner and the sharers of each chunk, and forgets those that died
  // with their homes. serve: goes on with a chunk.
  void complete(std::uint32_t slot, const std::function<void(ChunkId, HomeEntry&)>& serve);
  void defer(std::uint32_t slot, NodeId from, const ChunkMessage& message, Bytes tail);
  // The next message that was deferred, valid until forget_served(); nullptr: there is none.
  const Deferred* next_deferred(std::uint32_t slot);
  // The effects of former steps have been performed.
  void forget_served() { served_.clear(); }

  // Asks a node for the bytes. True: no node has any, and the chunk has zeros.
  bool fetch(ChunkId id, HomeEntry& entry);
  // The node that was asked has answered, or died. True: the bytes are here.
  bool fetched(ChunkId id, HomeEntry& entry, NodeId from, std::uint64_t version);
  // Notifies the reporters that their copies are not needed any more, once no bytes have to be
  // fetched.
  void tell_serving(std::uint32_t slot);

 private:
  struct Rebuild {
    std::vector<NodeId> awaited;    // nodes that have not reported yet
    std::vector<NodeId> reporters;  // nodes to notify when their copies are not needed any more
    std::deque<Deferred> deferred;  // what nodes have asked meanwhile
    struct Gone {
      std::string name;
      bool told = false;
    };
    std::map<std::uint64_t, Gone> gone;  // pushed chunks that died with former homes
  };

  void tell_gone(Rebuild& rebuild);
  void settle(HomeEntry& entry);

  ChunkDirectory& directory_;
  HomeMemory& memory_;
  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::uint32_t, Rebuild> rebuilds_;  // by slot
  std::deque<Deferred> served_;                // messages whose bytes this step's effects may name
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
