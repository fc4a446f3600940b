#include "protocol/news_tree.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

void put_news_head(std::vector<std::byte>& message, wire::PageNews head,
                   std::span<const NodeId> further) {
  head.further = static_cast<std::uint32_t>(further.size());
  wire::put(message, head);
  for (NodeId node : further) wire::put(message, node.value);
}

bool take_news_part(Bytes& message, std::uint64_t block_bytes, NewsPart& part) {
  if (!wire::take(message, part.head)) return false;
  if (part.head.further > message.size() / sizeof(std::uint32_t)) return false;
  part.further.resize(part.head.further);
  for (NodeId& node : part.further) wire::take(message, node.value);
  std::uint64_t bytes = part.head.gone != 0 ? 0 : part.head.blocks * block_bytes;
  if (message.size() < bytes) return false;
  part.bytes = message.first(bytes);
  message = message.subspan(bytes);
  return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
