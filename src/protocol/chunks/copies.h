#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/chunks/chunk_copy.h"
#include "protocol/chunks/slots.h"
#include "protocol/chunks/work_client.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The copies of a node, by number. Counts their memory and that of work streams against a budget,
// and evicts copies without open scopes when memory is short. A copy in the memory of a home on the
// same node costs nothing.
class Copies : public WorkBudget {
 public:
  using Copy = ChunkCopy;

  // budget_bytes: for all copies together whose home is on another node.
  Copies(std::uint64_t budget_bytes, const View& view, ChunkOutbox& outbox)
      : view_(view), outbox_(outbox), budget_bytes_(budget_bytes) {}

  // nullptr: this node does not know the chunk.
  const Copy* find(ChunkId chunk) const;
  Copy* find(ChunkId chunk) { return const_cast<Copy*>(std::as_const(*this).find(chunk)); }
  const std::map<std::uint64_t, Copy>& all() const { return copies_; }
  std::map<std::uint64_t, Copy>& all() { return copies_; }
  // The copy of a chunk that this node has created or found, and whether it is new.
  std::pair<Copy&, bool> add(ChunkId id, std::uint64_t bytes, Coherence coherence,
                             const std::string& name);
  // Enters a use of the copy, for the order of evictions.
  void use(Copy& copy) { copy.used = ++uses_; }
  bool own(ChunkId chunk) const { return home_of(chunk, view_) == outbox_.self(); }

  // The slot has a new home, which may ask for the copies that were reported to it; it needs them
  // no more.
  void home_moved(std::uint32_t slot);
  void home_serves(std::uint32_t slot) { std::erase(rebuilding_, slot); }
  bool awaits_homes() const { return !rebuilding_.empty(); }
  bool awaits_home(ChunkId chunk) const;

  // Memory for a copy, or for versions of a work stream.
  Room make_room(ChunkId id, Copy& copy);
  Room reserve(ChunkId chunk, std::uint64_t bytes) override;
  void give_back(ChunkId chunk, std::uint64_t bytes) override;
  bool is_evictable(ChunkId id, const Copy& copy) const {
    return copy.is_evictable(awaits_home(id));
  }
  // A copy that was not written is dropped at once; the bytes of a written one are kept until they
  // are at the home.
  void evict(ChunkId id, Copy& copy);
  void end_eviction(Copy& copy);
  void shrink(Copy& copy, std::uint64_t needed) {
    used_bytes_ -= copy.counted - needed;
    copy.counted = needed;
  }
  // Frees the room that was reserved for a subscription.
  void recount(Copy& copy) {
    std::uint64_t wanted = copy.bytes * (Copy::kOwnPlaces + (copy.has_bytes ? 1u : 0u));
    for (const Copy::Held& held : copy.held)
      if (!held.written) wanted += copy.bytes;
    if (wanted < copy.counted) shrink(copy, wanted);
  }
  // Frees the bytes that a pushed chunk had before it was pushed.
  void forget_bytes(ChunkId id, Copy& copy) {
    if (!copy.has_bytes) return;
    copy.has_bytes = false;
    outbox_.discard(id);
    shrink(copy, copy.counted - copy.bytes);
  }
  // Frees all memory of the copy.
  void release(ChunkId id, Copy& copy) {
    if (copy.pushed()) forget_bytes(id, copy);
    copy.has_bytes = false;
    for (const Copy::Held& held : copy.held) outbox_.discard(id, held.place);
    copy.held.clear();
    if (copy.counted > 0 && !copy.pushed()) outbox_.discard(id);
    shrink(copy, 0);
  }
  void check_invariants() const;

 private:
  bool has(std::uint64_t more) const { return budget_bytes_ - used_bytes_ >= more; }
  std::uint64_t missing(ChunkId id, const Copy& copy) const;
  Room make_room(Copy& copy, std::uint64_t more);

  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::uint64_t, Copy> copies_;
  std::vector<std::uint32_t> rebuilding_;  // slots whose new homes may still need the copies of
                                           // this node
  std::uint64_t uses_ = 0;
  std::uint64_t budget_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t leaving_bytes_ = 0;  // part of used_bytes_: evicted, and not yet at the homes
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
