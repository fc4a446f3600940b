#include "protocol/push/push_tree.h"

#include <bit>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

std::uint64_t count_whole(const wire::PagePush& head) {
  if (head.gone != 0) return 0;
  std::uint32_t all = (1u << std::min<std::uint32_t>(head.blocks, 31)) - 1;
  return head.blocks - static_cast<std::uint64_t>(std::popcount(head.same & all));
}

void put_push_head(std::vector<std::byte>& message, const PushPart& part,
                   std::span<const NodeId> further) {
  wire::PagePush head = part.head;
  head.further = static_cast<std::uint32_t>(further.size());
  wire::put(message, head);
  for (NodeId node : further) wire::put(message, node.value);
  for (std::uint32_t version : part.versions) wire::put(message, version);
}

bool take_push_part(Bytes& message, std::uint64_t block_bytes, PushPart& part) {
  if (!wire::take(message, part.head)) return false;
  if (part.head.further > message.size() / sizeof(std::uint32_t)) return false;
  part.further.resize(part.head.further);
  for (NodeId& node : part.further) wire::take(message, node.value);
  part.versions.assign(part.head.gone != 0 ? 0 : part.head.blocks, 0);
  for (std::uint32_t& version : part.versions)
    if (!wire::take(message, version)) return false;
  std::uint64_t bytes = count_whole(part.head) * block_bytes;
  if (message.size() < bytes) return false;
  part.bytes = message.first(bytes);
  message = message.subspan(bytes);
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
