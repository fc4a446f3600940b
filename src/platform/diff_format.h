#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "platform/diff.h"

// What the kernels of a diff share: the wire form's arithmetic, its checked reader, and byte-exact
// stores. Internal to this folder. The files that include it are compiled without ThreadSanitizer:
// pages are raced on purpose.
namespace terrane::platform {

static_assert(std::endian::native == std::endian::little, "the wire form is stored as it stands");

inline constexpr std::size_t kWordBytes = 8;
inline constexpr std::size_t kGroupBytes = 512;
inline constexpr std::size_t kGroupWords = kGroupBytes / kWordBytes;

inline std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

inline void store_word(std::byte* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }

inline std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

inline std::size_t group_count(std::size_t block_bytes) {
  return (block_bytes + kGroupBytes - 1) / kGroupBytes;
}

// Part 1 of the wire form: one bit a group, in bytes.
inline std::size_t group_bits_bytes(std::size_t block_bytes) {
  return (group_count(block_bytes) + 63) / 64 * 8;
}

inline std::uint64_t low_bits(std::size_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// 0x80 in every byte of `word` that is not zero.
inline std::uint64_t nonzero_bytes(std::uint64_t word) {
  constexpr std::uint64_t kLow7 = 0x7f7f7f7f7f7f7f7fu;
  return (((word & kLow7) + kLow7) | word) & ~kLow7;
}

// Bit i set where byte i of `difference` is not zero.
inline std::uint32_t byte_mask(std::uint64_t difference) {
  return static_cast<std::uint32_t>(((nonzero_bytes(difference) >> 7) * 0x0102040810204080u) >> 56);
}

// Collects the group bits while a diff is encoded and writes them in front of it.
class GroupBits {
 public:
  explicit GroupBits(std::byte* out, std::size_t block_bytes)
      : out_(out), bytes_(group_bits_bytes(block_bytes)) {
    std::memset(out, 0, bytes_);
  }

  std::byte* end() const { return out_ + bytes_; }
  void set(std::size_t group) {
    std::byte* at = out_ + group / 64 * 8;
    store_word(at, load_word(at) | std::uint64_t{1} << group % 64);
  }
  // The diff's size when its last group ends at `end`; 0 when there is no group.
  std::size_t size(const std::byte* end) const {
    auto size = static_cast<std::size_t>(end - out_);
    return size == bytes_ ? 0 : size;
  }

 private:
  std::byte* out_;
  std::size_t bytes_;
};

// Ends a group whose words are behind its map: the map in front, the masks behind, padded.
// Returns the group's end.
inline std::byte* finish_group(std::byte* group, std::uint64_t map, const std::byte* masks,
                               std::size_t words) {
  store_word(group, map);
  std::byte* to = group + 8 + words * kWordBytes;
  std::size_t whole = words & ~std::size_t{7};
  std::memcpy(to, masks, whole);
  if (whole != words) {
    store_word(to + whole, load_word(masks + whole) & low_bits((words - whole) * 8));
  }
  return to + padded(words);
}

// One changed group of a diff being applied.
struct DiffGroup {
  std::size_t offset = 0;  // in the block
  std::uint64_t map = 0;
  std::size_t words = 0;
  const std::byte* packed = nullptr;  // the words, then the masks
  const std::byte* masks() const { return packed + words * kWordBytes; }
};

// Reads a diff that anyone may have sent: every group it yields lies inside both the diff and the
// block. The masks' values are the kernels' to check.
class DiffReader {
 public:
  DiffReader(std::size_t block_bytes, std::span<const std::byte> diff)
      : block_bytes_(block_bytes), diff_(diff), at_(group_bits_bytes(block_bytes)) {
    valid_ = diff.size() >= at_ && bits_within_block();
  }

  // The next group; false at the end and at the first thing malformed (then valid() is false).
  bool next(DiffGroup& group) {
    if (!valid_) return false;
    while (bits_ == 0) {
      if (word_ * 8 >= group_bits_bytes(block_bytes_)) {
        valid_ = at_ == diff_.size();
        return false;
      }
      bits_ = load_word(diff_.data() + word_ * 8);
      ++word_;
    }
    std::size_t index = (word_ - 1) * 64 + static_cast<std::size_t>(std::countr_zero(bits_));
    bits_ &= bits_ - 1;
    valid_ = read(index, group);
    return valid_;
  }

  bool valid() const { return valid_; }

 private:
  bool bits_within_block() const {
    std::size_t groups = group_count(block_bytes_);
    bool full = groups % 64 == 0;
    return full || (load_word(diff_.data() + group_bits_bytes(block_bytes_) - 8) &
                    ~low_bits(groups % 64)) == 0;
  }

  bool read(std::size_t index, DiffGroup& group) {
    std::size_t left = diff_.size() - at_;
    if (left < 8) return false;
    group.offset = index * kGroupBytes;
    group.map = load_word(diff_.data() + at_);
    group.words = static_cast<std::size_t>(std::popcount(group.map));
    group.packed = diff_.data() + at_ + 8;
    std::size_t size = 8 + group.words * kWordBytes + padded(group.words);
    std::size_t words_in_block = (block_bytes_ - group.offset) / kWordBytes;
    if (group.map == 0 || (group.map & ~low_bits(words_in_block)) != 0 || size > left) return false;
    at_ += size;
    return true;
  }

  std::size_t block_bytes_;
  std::span<const std::byte> diff_;
  std::size_t at_;
  std::size_t word_ = 0;
  std::uint64_t bits_ = 0;
  bool valid_ = false;
};

// Every word of a group has a mask, none is empty, and the padding is zero.
inline bool masks_valid(const DiffGroup& group) {
  for (std::size_t first = 0; first < group.words; first += 8) {
    std::size_t here = group.words - first;
    std::uint64_t expected = 0x8080808080808080u & low_bits(here * 8);
    if (nonzero_bytes(load_word(group.masks() + first)) != expected) return false;
  }
  return true;
}

template <typename T>
void store_once(std::byte* to, T value) {
  __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELAXED);
}

// Stores the bytes of `word` that `mask` names, in pieces that touch nothing else. `to` is 8-byte
// aligned.
inline void store_bytes(std::byte* to, std::uint64_t word, std::uint32_t mask) {
  if (mask == 0xff) {
    store_once(to, word);
    return;
  }
  if ((mask & 0x0f) == 0x0f) {
    store_once(to, static_cast<std::uint32_t>(word));
    mask &= 0xf0;
  } else if ((mask & 0xf0) == 0xf0) {
    store_once(to + 4, static_cast<std::uint32_t>(word >> 32));
    mask &= 0x0f;
  }
  for (; mask != 0; mask &= mask - 1) {
    auto byte = static_cast<std::size_t>(std::countr_zero(mask));
    store_once(to + byte, static_cast<std::uint8_t>(word >> (8 * byte)));
  }
}

// Applies one group word by word.
inline void apply_words(std::byte* target, const DiffGroup& group) {
  const std::byte* word = group.packed;
  const std::byte* mask = group.masks();
  for (std::uint64_t map = group.map; map != 0; map &= map - 1, word += kWordBytes, ++mask) {
    std::byte* to = target + group.offset + static_cast<std::size_t>(std::countr_zero(map)) * 8;
    store_bytes(to, load_word(word), static_cast<std::uint32_t>(*mask));
  }
}

// The kernels of each instruction set.
extern const DiffKernels kScalarKernels;
#if defined(__x86_64__)
extern const DiffKernels kAvx2Kernels;
extern const DiffKernels kAvx512Kernels;
#endif

}  // namespace terrane::platform
