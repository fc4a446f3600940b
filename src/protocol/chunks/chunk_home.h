#pragma once

#include <vector>

#include "protocol/chunks/chunk_directory.h"
#include "protocol/chunks/slot_rebuilds.h"
#include "protocol/chunks/slots.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The server of a node: the home of chunks. Serves the requests of a chunk one at a time, in the
// order in which they came, and changes its coherence. Owns the directory of the chunks, and the
// slots that are rebuilt.
class ChunkHome {
 public:
  using Entry = HomeEntry;

  ChunkHome(HomeMemory& memory, const View& view, ChunkOutbox& outbox)
      : memory_(memory),
        view_(view),
        outbox_(outbox),
        directory_(memory, view, outbox),
        rebuilds_(directory_, memory, view, outbox) {}

  // A message of a client, also of this node's own, for a slot whose home is here. False:
  // malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);
  // The effects of former steps have been performed.
  void forget_served() { rebuilds_.forget_served(); }
  // The view has changed; `before`: the epoch of the former view. Forgets dead nodes, and begins to
  // rebuild the slots that are new here.
  void view_changed(std::uint32_t before);
  // This node leaves: it refuses chunks that are to be placed here.
  void leave() { directory_.leave(); }
  // Whether chunks have their home here: then this node cannot leave before the others.
  bool is_needed() const { return directory_.has_chunks(); }

  // For checks across nodes, and reports.
  const Entry* entry(ChunkId chunk) const { return directory_.entry(chunk); }
  // Whether the chunk's slot came here, and not all nodes have reported yet: entries are
  // incomplete.
  bool rebuilding(ChunkId chunk) const { return rebuilds_.awaits_reports(slot_of(chunk)); }
  void check_invariants() const;

 private:
  bool about_slot(NodeId from, const ChunkMessage& message, Bytes tail);
  bool about_chunk(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message, Bytes tail);
  bool about_unknown(NodeId from, const ChunkMessage& message);

  // chunk_home.cpp: one request after the other
  bool request(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message);
  void cancel(NodeId from, ChunkId id, Entry& entry, std::uint32_t number);
  bool yielded(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message, Bytes tail);
  bool evicted(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message, Bytes tail);
  bool take_bytes(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message, Bytes tail);
  void serve(ChunkId id, Entry& entry);
  void begin(ChunkId id, Entry& entry);
  void recall(ChunkId id, Entry& entry, NodeId from, wire::RecallMode mode);
  void finish(ChunkId id, Entry& entry);
  void grant(ChunkId id, Entry& entry, const Entry::Request& request);
  void grant_pushed(ChunkId id, Entry& entry, const Entry::Request& request);
  void refuse(ChunkId id, const Entry::Request& request, std::uint8_t flags,
              std::uint32_t turn = 0);

  // home_changes.cpp: versions, other coherences, and nodes that die
  bool subscribe(NodeId from, Entry& entry, const ChunkMessage& message);
  void unsubscribe(NodeId node, Entry& entry);
  bool publish(NodeId from, Entry& entry, const ChunkMessage& message, Bytes tail);
  void forget_pushed(ChunkId id, Entry& entry);
  bool hint(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message);
  void answer_hint(ChunkId id, NodeId to, std::uint32_t number, std::uint8_t flags);
  void begin_hint(ChunkId id, Entry& entry);
  void change(ChunkId id, Entry& entry, const Entry::Request& request);
  void bury(ChunkId id, Entry& entry, NodeId dead);
  void owner_died(ChunkId id, Entry& entry);
  void complete(std::uint32_t slot);
  void fetch(ChunkId id, Entry& entry);
  void recovered(ChunkId id, Entry& entry);

  HomeMemory& memory_;
  const View& view_;
  ChunkOutbox& outbox_;
  ChunkDirectory directory_;
  SlotRebuilds rebuilds_;
  std::vector<NodeId> members_;  // of the former view
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
