#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace terrane::platform {

// Differences between a block and its pristine twin, exact to the byte: two nodes may write
// adjacent bytes at once, so a byte that did not change is never stored at the home. Blocks have a
// multiple of 64 bytes, at most 64 KiB; addresses are 64-byte aligned (diffs themselves need no
// alignment). Pages are raced on purpose: other threads store to `page`, `home` and `target`
// meanwhile.
//
// The wire form, little-endian, in groups of 512 bytes (64 words of 8 bytes; the block's last group
// may be shorter):
//   1. one bit a group: whether anything in it changed, padded to 8 bytes;
//   2. for each changed group, in order:
//      a map of its changed words, 8 bytes, bit i for word i;
//      the changed words, packed;
//      for each changed word a mask of its changed bytes, bit i for byte i, padded with zeros to 8
//      bytes.
// Every form has exactly one reading, and apply refuses all others (bits past the block's end,
// empty maps and masks, non-zero padding, bytes left over). Bytes of a changed word that did not
// change themselves carry the page's value and mean nothing.
struct DiffKernels {
  std::string_view name;  // "scalar", "avx2", "avx512"

  // Writes the difference of `page` against `twin` to `out` (capacity: diff_bound(bytes)) and
  // returns its size; 0 when nothing differs. Each vector of the page is loaded once; when
  // `update_twin`, those very bytes go to the twin, so a write that falls in between is either in
  // this diff or differs from the twin later (rule "same load").
  std::size_t (*encode)(const std::byte* page, std::byte* twin, std::size_t bytes, bool update_twin,
                        std::byte* out);
  // Stores the changed bytes into `target`, and nothing else: no read-modify-write of a neighbour's
  // byte. Returns false, having stored nothing outside the block, when `diff` is malformed. An
  // empty diff changes nothing.
  bool (*apply)(std::byte* target, std::size_t bytes, std::span<const std::byte> diff);
  // encode and apply in one pass, for a home whose memory can be reached: changed bytes go straight
  // from `page` to `home` (and to `twin` when `update_twin`). Returns how many bytes changed.
  std::size_t (*store)(const std::byte* page, std::byte* twin, std::byte* home, std::size_t bytes,
                       bool update_twin);
  // Copies a block that others may be writing: `from` is loaded once, and those very bytes go to
  // `page` and, unless it is nullptr, to `twin` (a fetch: both copies are equal whatever the home
  // does meanwhile).
  void (*copy)(const std::byte* from, std::byte* page, std::byte* twin, std::size_t bytes);
};

constexpr std::size_t diff_bound(std::size_t bytes) { return bytes + bytes / 8 + bytes / 64 + 64; }

// Which bytes of a block of `bytes` a difference changes: bit i % 64 of mask[i / 64] for byte i.
// False: it is malformed.
bool diff_mask(std::size_t bytes, std::span<const std::byte> diff, std::span<std::uint64_t> mask);

// The best that this processor has; TERRANE_DIFF=scalar|avx2|avx512 forces one (ignored where not
// available).
const DiffKernels& diff_kernels();
// All that this processor can run, scalar first: for the test that holds them equal.
std::span<const DiffKernels> all_diff_kernels();

}  // namespace terrane::platform
