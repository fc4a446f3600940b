#include "platform/diff_format.h"

namespace terrane::platform {

bool diff_mask(std::size_t bytes, std::span<const std::byte> diff, std::span<std::uint64_t> mask) {
  for (std::uint64_t& bits : mask) bits = 0;
  if (diff.empty()) return true;
  DiffReader reader(bytes, diff);
  for (DiffGroup group; reader.next(group);) {
    if (!masks_valid(group)) return false;
    const std::byte* changed = group.masks();
    for (std::uint64_t map = group.map; map != 0; map &= map - 1, ++changed) {
      auto at = group.offset + static_cast<std::size_t>(std::countr_zero(map)) * kWordBytes;
      mask[at / 64] |= static_cast<std::uint64_t>(*changed) << at % 64;
    }
  }
  return reader.valid();
}

}  // namespace terrane::platform
