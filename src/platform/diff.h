#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace terrane::platform {

// Differences between a block and its pristine twin, exact to the byte (page-adjacent writers on
// two nodes are legal). A block's size is a multiple of 512 bytes, at most 64 KiB; addresses are
// 64-byte aligned.
//
// The wire form: for each 512 bytes of the block (a group of 64 words of 8 bytes), a 64-bit map of
// changed words; then, for each group with a non-zero map, the changed words in order: one
// byte-mask of 8 bits each (all masks of the group first, padded to 8 bytes), then the words,
// packed. Groups whose map is zero take only the map. Little-endian. (Implementations may choose a
// denser form; encode and apply must agree, and apply must refuse what is malformed.)
struct DiffKernels {
  std::string_view name;  // "scalar", "avx2", "avx512"

  // Writes the difference of `page` against `twin` to `out` (capacity: diff_bound(bytes)) and
  // returns its size; 0 when nothing differs. Each vector of the page is loaded once; when
  // `update_twin`, those very bytes go to the twin, so a write that falls in between is either in
  // this diff or differs from the twin later (rule "same load").
  std::size_t (*encode)(const std::byte* page, std::byte* twin, std::size_t bytes, bool update_twin,
                        std::byte* out);
  // Stores the changed bytes into `target`, and nothing else: no read-modify-write of a neighbour's
  // byte. Returns false, having stored nothing outside the block, when `diff` is malformed.
  bool (*apply)(std::byte* target, std::size_t bytes, std::span<const std::byte> diff);
  // encode and apply in one pass, for a home whose memory can be reached: changed bytes go straight
  // from `page` to `home` (and to `twin` when `update_twin`). Returns how many bytes changed.
  std::size_t (*store)(const std::byte* page, std::byte* twin, std::byte* home, std::size_t bytes,
                       bool update_twin);
};

constexpr std::size_t diff_bound(std::size_t bytes) { return bytes + bytes / 8 + bytes / 64 + 64; }

// The best that this processor has; TERRANE_DIFF=scalar|avx2|avx512 forces one (ignored where not
// available).
const DiffKernels& diff_kernels();
// All that this processor can run, scalar first: for the test that holds them equal.
std::span<const DiffKernels> all_diff_kernels();

}  // namespace terrane::platform
