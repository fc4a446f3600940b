#pragma once

#include <map>
#include <string>
#include <utility>

#include "protocol/chunks/home_entry.h"
#include "protocol/chunks/home_memory.h"
#include "protocol/chunks/placements.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The chunks of a home by number and by name, and its answers to nodes that ask for a name. Owns
// the entries, of work streams too: of these it knows which node is their home.
class ChunkDirectory {
 public:
  using Entry = HomeEntry;
  using Entries = std::map<std::uint64_t, Entry>;

  ChunkDirectory(HomeMemory& memory, const View& view, ChunkOutbox& outbox)
      : memory_(memory), view_(view), outbox_(outbox), placements_(view, outbox) {}

  const Entry* entry(ChunkId chunk) const;
  Entry* entry(ChunkId chunk) { return const_cast<Entry*>(std::as_const(*this).entry(chunk)); }
  const Entries& entries() const { return entries_; }
  Entries& entries() { return entries_; }

  // A node creates a chunk, or asks for one. False: malformed.
  bool find(NodeId from, const ChunkMessage& message, Bytes tail);
  // A node reports where a chunk is placed. False: malformed.
  bool named(const ChunkMessage& message, Bytes tail) { return placements_.named(message, tail); }
  // A node asks for the home of a work stream. False: malformed.
  bool place(NodeId from, Entry& entry, const ChunkMessage& message);
  // The home of the name has died, and a node reports the chunk: its entry, and whether that is
  // new. Of two chunks of one name the older one is gone.
  std::pair<Entry*, bool> learn(ChunkId id, std::string name);
  void learn_work(const ChunkMessage& message, std::string name);
  bool is_newest(ChunkId id, const Entry& entry) const;
  // Returns the next entry.
  Entries::iterator forget(Entries::iterator at);
  void forget_finders(NodeId dead) { placements_.forget_finders(dead); }
  // A work stream dies with its home.
  void forget_dead_work();
  // This node leaves: it refuses chunks that are to be placed here.
  void leave() { leaving_ = true; }
  bool has_chunks() const;

 private:
  void create(NodeId from, const ChunkMessage& message, std::string name);
  void create_work(NodeId from, const ChunkMessage& message, std::string name);
  void add(NodeId from, const ChunkMessage& message, Entry fresh, bool owned);
  void answer(NodeId to, std::uint32_t request, ChunkId id, const Entry& entry, std::uint8_t flags);
  void refuse(NodeId to, std::uint32_t request, std::uint8_t flags);

  HomeMemory& memory_;
  const View& view_;
  ChunkOutbox& outbox_;
  Entries entries_;
  using Name = std::pair<std::uint64_t, std::string>;  // slot and name
  std::map<Name, std::uint64_t> names_;
  Placements placements_;
  std::uint32_t next_number_ = 0;
  bool leaving_ = false;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
