#include "protocol/hlrc/grant.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Grant Grant::open(Strand& s) {
  Bytes message(s.inbox);
  GrantHead head{};
  TERRANE_CHECK(wire::take(message, head) && head.notice_bytes <= message.size(),
                "a grant is whole");
  Grant grant{.activity = head.activity};
  Bytes granted = message.subspan(head.notice_bytes);
  grant.bytes.assign(granted.begin(), granted.end());
  Block one{};
  for (Bytes rest(grant.bytes); wire::take(rest, one.head); rest = rest.subspan(one.head.bytes)) {
    one.at = static_cast<std::uint32_t>(grant.bytes.size() - rest.size());
    grant.blocks.push_back(one);
  }
  s.inbox.resize(sizeof head + head.notice_bytes);
  s.inbox.erase(s.inbox.begin(), s.inbox.begin() + sizeof head);
  return grant;
}

const Grant::Block* Grant::find(std::uint64_t block) const {
  for (const Block& one : blocks)
    if (one.head.block == block) return &one;
  return nullptr;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
