#include "protocol/chunks/slots.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

bool View::has(NodeId node) const {
  return std::binary_search(members.begin(), members.end(), node);
}

// FNV-1a: the same on every node.
std::uint32_t slot_of(std::string_view name, const View& view) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return static_cast<std::uint32_t>((hash >> 32) % view.name_slots());
}

NodeId home_of(ChunkId chunk, const View& view) {
  std::uint32_t slot = slot_of(chunk);
  return slot < view.slots.size() ? view.slots[slot].home : kNoNode;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
