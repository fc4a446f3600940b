#if defined(__x86_64__)

#include <immintrin.h>

#include "platform/diff_format.h"

namespace terrane::platform {
namespace {

constexpr std::size_t kVectorBytes = 64;
constexpr std::uint64_t kAllBytes = ~std::uint64_t{0};

// The one load of a vector: what comes after cannot be computed from a second one.
[[gnu::target("avx512f,avx512bw"), gnu::always_inline]] inline __m512i load_once(
    const std::byte* from) {
  __m512i vector = _mm512_load_si512(from);
  asm volatile("" : "+v"(vector));
  return vector;
}

// 0xff in byte i for bit i of a set of words.
[[gnu::target("bmi2"), gnu::always_inline]] inline std::uint64_t spread(std::uint32_t words) {
  return _pdep_u64(words, 0x0101010101010101u) * 0xff;
}

[[gnu::target("avx512f,avx512bw,bmi2,popcnt")]] std::byte* encode_group(
    const std::byte* page, std::byte* twin, std::size_t bytes, bool update_twin, std::byte* out) {
  std::byte masks[kGroupWords + 8];
  std::uint64_t map = 0;
  std::size_t words = 0;
  for (std::size_t at = 0; at < bytes; at += kVectorBytes) {
    __m512i now = load_once(page + at);
    __m512i before = _mm512_load_si512(twin + at);
    std::uint64_t mask = _mm512_cmpneq_epi8_mask(now, before);
    if (mask == 0) continue;
    std::uint32_t set = _mm512_cmpneq_epi64_mask(now, before);
    _mm512_storeu_si512(out + 8 + words * kWordBytes,
                        _mm512_maskz_compress_epi64(static_cast<__mmask8>(set), now));
    store_word(masks + words, _pext_u64(mask, spread(set)));
    words += static_cast<std::size_t>(_mm_popcnt_u32(set));
    map |= std::uint64_t{set} << (at / 8);
    if (update_twin) _mm512_store_si512(twin + at, now);
  }
  return words == 0 ? out : finish_group(out, map, masks, words);
}

[[gnu::target("avx512f,avx512bw,bmi2,popcnt")]] std::size_t encode(
    const std::byte* page, std::byte* twin, std::size_t bytes, bool update_twin, std::byte* out) {
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

// Every word of the group has a mask, none is empty, and the padding is zero.
[[gnu::target("avx512f,avx512bw,bmi2"), gnu::always_inline]] inline bool masks_fit(
    const DiffGroup& group) {
  __m512i masks = _mm512_maskz_loadu_epi8(
      _bzhi_u64(kAllBytes, static_cast<std::uint32_t>(padded(group.words))), group.masks());
  return _mm512_test_epi8_mask(masks, masks) ==
         _bzhi_u64(kAllBytes, static_cast<std::uint32_t>(group.words));
}

// Masked stores touch the named bytes alone. The masks' 8 bytes at a time may be read past the
// group's own words but never past its padding, because words and masks are walked together from
// `packed`.
[[gnu::target("avx512f,avx512bw,bmi2,popcnt")]] void apply_group(std::byte* target,
                                                                 const DiffGroup& group) {
  std::byte masks[kGroupWords + 8];
  _mm512_storeu_si512(
      masks, _mm512_maskz_loadu_epi8(_bzhi_u64(kAllBytes, static_cast<std::uint32_t>(group.words)),
                                     group.masks()));
  const std::byte* word = group.packed;
  const std::byte* mask = masks;
  for (std::uint64_t map = group.map; map != 0; map >>= 8, target += kVectorBytes) {
    auto set = static_cast<std::uint32_t>(map & 0xff);
    if (set == 0) continue;
    auto count = static_cast<std::uint32_t>(_mm_popcnt_u32(set));
    __m512i packed = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(_bzhi_u32(0xff, count)), word);
    __m512i words = _mm512_maskz_expand_epi64(static_cast<__mmask8>(set), packed);
    std::uint64_t bytes = _pdep_u64(load_word(mask), spread(set));
    if (bytes == kAllBytes) {
      _mm512_store_si512(target, words);
    } else {
      _mm512_mask_storeu_epi8(target, bytes, words);
    }
    word += count * kWordBytes;
    mask += count;
  }
}

[[gnu::target("avx512f,avx512bw,bmi2,popcnt")]] bool apply(std::byte* target, std::size_t bytes,
                                                           std::span<const std::byte> diff) {
  if (diff.empty()) return true;
  DiffReader reader(bytes, diff);
  for (DiffGroup group; reader.next(group);) {
    if (!masks_fit(group)) return false;
    apply_group(target + group.offset, group);
  }
  return reader.valid();
}

[[gnu::target("avx512f,avx512bw,popcnt")]] std::size_t store(const std::byte* page, std::byte* twin,
                                                             std::byte* home, std::size_t bytes,
                                                             bool update_twin) {
  std::size_t changed = 0;
  for (std::size_t at = 0; at < bytes; at += kVectorBytes) {
    __m512i now = load_once(page + at);
    std::uint64_t mask = _mm512_cmpneq_epi8_mask(now, _mm512_load_si512(twin + at));
    if (mask == 0) continue;
    if (mask == kAllBytes) {
      _mm512_store_si512(home + at, now);
    } else {
      _mm512_mask_storeu_epi8(home + at, mask, now);
    }
    if (update_twin) _mm512_store_si512(twin + at, now);
    changed += static_cast<std::size_t>(_mm_popcnt_u64(mask));
  }
  return changed;
}

[[gnu::target("avx512f,avx512bw")]] void copy(const std::byte* from, std::byte* page,
                                              std::byte* twin, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kVectorBytes) {
    __m512i vector = load_once(from + at);
    _mm512_store_si512(page + at, vector);
    if (twin != nullptr) _mm512_store_si512(twin + at, vector);
  }
}

}  // namespace

const DiffKernels kAvx512Kernels = {"avx512", encode, apply, store, copy};

}  // namespace terrane::platform

#endif
