#include "runtime/page_looks.h"

#include <cstring>

namespace terrane::runtime {

using protocol::BlockState;

PageLooks::Found PageLooks::find(const void* address, std::uint64_t bytes) const {
  auto offset = space_.offset_of(address, bytes);
  if (!offset) return {};
  std::uint64_t block = *offset / space_.unit();
  bool is_one = block == (*offset + bytes - 1) / space_.unit();
  if (!is_one || !space_.control_of(space_.self()).populated.contains(block)) return {};
  return {*offset, &entries_[block]};
}

bool PageLooks::peek(const void* address, void* to, std::uint64_t bytes) const {
  Found page = find(address, bytes);
  if (page.entry == nullptr || page.entry->settled_state() == BlockState::kInvalid) return false;
  std::memcpy(to, space_.mapping().runtime() + page.offset, bytes);
  return true;
}

bool PageLooks::has_news(const void* address, const void* seen, std::uint64_t bytes) const {
  Found page = find(address, bytes);
  if (page.entry == nullptr || page.entry->synchronises()) return false;
  const std::byte* now = space_.mapping().runtime() + page.offset;
  if (std::memcmp(now, seen, bytes) == 0) return false;
  switch (page.entry->settled_state()) {
    case BlockState::kHome:
      return true;
    case BlockState::kInvalid:  // a home that its own node has never used, or an old copy
      return page.entry->may_be_home(space_.self());
    default:
      return space_.twinned_.contains(page.offset / space_.unit()) &&
             std::memcmp(now, space_.twins_.data() + page.offset, bytes) != 0;
  }
}

}  // namespace terrane::runtime
