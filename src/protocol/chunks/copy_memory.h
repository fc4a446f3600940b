#pragma once

#include <algorithm>

#include "protocol/chunks/chunk_copy.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Counts the memory of a node's copies against its budget, and frees what a copy does not need. A
// copy in the memory of a home on the same node costs nothing.
class CopyMemory {
 public:
  CopyMemory(std::uint64_t budget_bytes, ChunkOutbox& outbox)
      : budget_bytes_(budget_bytes), outbox_(outbox) {}

  std::uint64_t used_bytes() const { return used_bytes_; }
  // Whether `more` bytes are free; whether they will be when evictions have ended.
  bool has(std::uint64_t more) const { return budget_bytes_ - used_bytes_ >= more; }
  bool will_have(std::uint64_t more) const {
    return budget_bytes_ - used_bytes_ + leaving_bytes_ >= more;
  }
  // Bytes that the copy needs beyond those that are counted for it. own: its home is on this node.
  static std::uint64_t missing(const ChunkCopy& copy, bool own) {
    std::uint64_t wanted = own ? 0 : copy.bytes;
    if (copy.pushed()) {
      std::uint64_t places = ChunkCopy::kOwnPlaces + (copy.subscribed ? copy.window + 1 : 0) +
                             (copy.has_bytes ? 1u : 0u);
      wanted = copy.bytes * places;
    }
    return wanted > copy.counted ? wanted - copy.counted : 0;
  }
  void count(ChunkCopy& copy, std::uint64_t more) {
    copy.counted += more;
    used_bytes_ += more;
  }
  void shrink(ChunkCopy& copy, std::uint64_t needed) {
    used_bytes_ -= copy.counted - needed;
    copy.counted = needed;
  }
  // Frees the room that was reserved for a subscription.
  void recount(ChunkCopy& copy) {
    std::uint64_t wanted = copy.bytes * (ChunkCopy::kOwnPlaces + (copy.has_bytes ? 1u : 0u));
    for (const ChunkCopy::Held& held : copy.held)
      if (!held.written) wanted += copy.bytes;
    if (wanted < copy.counted) shrink(copy, wanted);
  }
  // Frees the bytes that a pushed chunk had before it was pushed.
  void forget_bytes(ChunkId id, ChunkCopy& copy) {
    if (!copy.has_bytes) return;
    copy.has_bytes = false;
    outbox_.discard(id);
    shrink(copy, copy.counted - copy.bytes);
  }
  // Frees all memory of the copy.
  void release(ChunkId id, ChunkCopy& copy) {
    if (copy.pushed()) forget_bytes(id, copy);
    copy.has_bytes = false;
    for (const ChunkCopy::Held& held : copy.held) outbox_.discard(id, held.place);
    copy.held.clear();
    if (copy.counted > 0 && !copy.pushed()) outbox_.discard(id);
    shrink(copy, 0);
  }
  // Written bytes are sent to the home, and kept until they are there.
  void begin_eviction(ChunkCopy& copy) {
    copy.evicting = true;
    leaving_bytes_ += copy.counted;
  }
  void end_eviction(ChunkCopy& copy) {
    copy.evicting = false;
    leaving_bytes_ -= copy.counted;
  }
  // used: the sum of `counted` of all copies.
  void check_invariants(std::uint64_t used) const {
    TERRANE_CHECK(used == used_bytes_ && used <= budget_bytes_, "copies stay within the budget");
  }

 private:
  std::uint64_t budget_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t leaving_bytes_ = 0;  // part of used_bytes_: evicted, and not yet at the homes
  ChunkOutbox& outbox_;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
