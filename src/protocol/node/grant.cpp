#include "protocol/node/grant.h"

#include <utility>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Grant Grant::of_notices(std::vector<std::byte> answer) {
  return Grant{.notices = std::move(answer)};
}

Grant Grant::with_blocks(Bytes answer) {
  GrantHead head{};
  TERRANE_CHECK(wire::take(answer, head) && head.notice_bytes <= answer.size(), "a grant is whole");
  Bytes notices = answer.first(head.notice_bytes);
  Grant grant{.activity = head.activity, .notices{notices.begin(), notices.end()}};
  Bytes granted = answer.subspan(head.notice_bytes);
  grant.bytes.assign(granted.begin(), granted.end());
  Block one{};
  for (Bytes rest(grant.bytes); wire::take(rest, one.head); rest = rest.subspan(one.head.bytes)) {
    one.at = static_cast<std::uint32_t>(grant.bytes.size() - rest.size());
    grant.blocks.push_back(one);
  }
  return grant;
}

const Grant::Block* Grant::find(std::uint64_t block) const {
  for (const Block& one : blocks)
    if (one.head.block == block) return &one;
  return nullptr;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
