#include "platform/diff_format.h"

namespace terrane::platform {
namespace {

// A load that the compiler may neither repeat nor split.
std::uint64_t load_once(const std::byte* from) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from), __ATOMIC_RELAXED);
}

// Looks before the exact pass; what changes between the two is a change that comes later.
bool differs(const std::byte* page, const std::byte* twin) {
  std::uint64_t any = 0;
  for (std::size_t at = 0; at < 64; at += 8) any |= load_word(page + at) ^ load_word(twin + at);
  return any != 0;
}

std::byte* encode_group(const std::byte* page, std::byte* twin, std::size_t bytes, bool update_twin,
                        std::byte* out) {
  std::byte masks[kGroupWords + 8];
  std::uint64_t map = 0;
  std::size_t words = 0;
  for (std::size_t line = 0; line < bytes; line += 64) {
    if (!differs(page + line, twin + line)) continue;
    for (std::size_t at = line; at < line + 64; at += 8) {
      std::uint64_t now = load_once(page + at);
      std::uint64_t difference = now ^ load_word(twin + at);
      if (difference == 0) continue;
      store_word(out + 8 + words * kWordBytes, now);
      masks[words++] = static_cast<std::byte>(byte_mask(difference));
      map |= std::uint64_t{1} << (at / 8);
      if (update_twin) store_word(twin + at, now);
    }
  }
  return words == 0 ? out : finish_group(out, map, masks, words);
}

std::size_t encode(const std::byte* page, std::byte* twin, std::size_t bytes, bool update_twin,
                   std::byte* out) {
  GroupBits groups(out, bytes);
  std::byte* end = groups.end();
  for (std::size_t at = 0; at < bytes; at += kGroupBytes) {
    std::size_t here = bytes - at < kGroupBytes ? bytes - at : kGroupBytes;
    std::byte* next = encode_group(page + at, twin + at, here, update_twin, end);
    if (next != end) groups.set(at / kGroupBytes);
    end = next;
  }
  return groups.size(end);
}

bool apply(std::byte* target, std::size_t bytes, std::span<const std::byte> diff) {
  if (diff.empty()) return true;
  DiffReader reader(bytes, diff);
  for (DiffGroup group; reader.next(group);) {
    if (!masks_valid(group)) return false;
    apply_words(target, group);
  }
  return reader.valid();
}

std::size_t store(const std::byte* page, std::byte* twin, std::byte* home, std::size_t bytes,
                  bool update_twin) {
  std::size_t changed = 0;
  for (std::size_t line = 0; line < bytes; line += 64) {
    if (!differs(page + line, twin + line)) continue;
    for (std::size_t at = line; at < line + 64; at += 8) {
      std::uint64_t now = load_once(page + at);
      std::uint64_t difference = now ^ load_word(twin + at);
      if (difference == 0) continue;
      std::uint32_t mask = byte_mask(difference);
      store_bytes(home + at, now, mask);
      if (update_twin) store_word(twin + at, now);
      changed += static_cast<std::size_t>(std::popcount(mask));
    }
  }
  return changed;
}

void copy(const std::byte* from, std::byte* page, std::byte* twin, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = load_once(from + at);
    store_once(page + at, word);
    if (twin != nullptr) store_word(twin + at, word);
  }
}

}  // namespace

const DiffKernels kScalarKernels = {"scalar", encode, apply, store, copy};

}  // namespace terrane::platform
