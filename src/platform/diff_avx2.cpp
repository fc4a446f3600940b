#if defined(__x86_64__)

#include <immintrin.h>

#include "platform/diff_format.h"

namespace terrane::platform {
namespace {

constexpr std::size_t kVectorBytes = 32;

// For each set of changed words of a vector: which 32-bit halves to pull to the front (for vpermd),
// and which mask bytes (for pshufb; unused ones read as zero).
struct PackTables {
  alignas(32) std::uint32_t halves[16][8];
  std::uint32_t masks[16];
};

constexpr PackTables make_pack_tables() {
  PackTables tables{};
  for (std::uint32_t set = 0; set < 16; ++set) {
    std::uint32_t count = 0;
    tables.masks[set] = 0x80808080u;
    for (std::uint32_t word = 0; word < 4; ++word) {
      if ((set >> word & 1) == 0) continue;
      tables.halves[set][2 * count] = 2 * word;
      tables.halves[set][2 * count + 1] = 2 * word + 1;
      tables.masks[set] &= ~(0xffu << (8 * count));
      tables.masks[set] |= word << (8 * count);
      ++count;
    }
  }
  return tables;
}

constexpr PackTables kPack = make_pack_tables();

// The one load of a vector: what comes after cannot be computed from a second one.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load_once(const std::byte* from) {
  __m256i vector = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  asm volatile("" : "+x"(vector));
  return vector;
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load(const std::byte* from) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
}

[[gnu::target("avx2"), gnu::always_inline]] inline void save(std::byte* to, __m256i vector) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), vector);
}

// Bit i set where byte i differs.
[[gnu::target("avx2"), gnu::always_inline]] inline std::uint32_t changed_bytes(__m256i now,
                                                                               __m256i before) {
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(now, before)));
}

// Whether two lines of 64 bytes differ; looks before the exact pass, as in the scalar kernel.
[[gnu::target("avx2"), gnu::always_inline]] inline bool differs(const std::byte* page,
                                                                const std::byte* twin) {
  __m256i any = _mm256_or_si256(_mm256_xor_si256(load(page), load(twin)),
                                _mm256_xor_si256(load(page + 32), load(twin + 32)));
  return _mm256_testz_si256(any, any) == 0;
}

[[gnu::target("avx2,popcnt")]] std::byte* encode_group(const std::byte* page, std::byte* twin,
                                                       std::size_t bytes, bool update_twin,
                                                       std::byte* out) {
  std::byte masks[kGroupWords + 8];
  std::uint64_t map = 0;
  std::size_t words = 0;
  for (std::size_t at = 0; at < bytes; at += kVectorBytes) {
    __m256i now = load_once(page + at);
    __m256i before = load(twin + at);
    std::uint32_t mask = changed_bytes(now, before);
    if (mask == 0) continue;
    int same = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(now, before)));
    auto set = static_cast<std::uint32_t>(same) ^ 15u;
    __m256i packed = _mm256_permutevar8x32_epi32(
        now, _mm256_load_si256(reinterpret_cast<const __m256i*>(kPack.halves[set])));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 8 + words * kWordBytes), packed);
    __m128i bytes_of_mask = _mm_shuffle_epi8(_mm_cvtsi32_si128(static_cast<int>(mask)),
                                             _mm_cvtsi32_si128(static_cast<int>(kPack.masks[set])));
    int packed_masks = _mm_cvtsi128_si32(bytes_of_mask);
    std::memcpy(masks + words, &packed_masks, sizeof packed_masks);
    words += static_cast<std::size_t>(_mm_popcnt_u32(set));
    map |= std::uint64_t{set} << (at / 8);
    if (update_twin) save(twin + at, now);
  }
  return words == 0 ? out : finish_group(out, map, masks, words);
}

[[gnu::target("avx2,popcnt")]] std::size_t encode(const std::byte* page, std::byte* twin,
                                                  std::size_t bytes, bool update_twin,
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

// AVX2 has no byte-masked store, so words go one by one.
[[gnu::target("avx2,popcnt,bmi")]] bool apply(std::byte* target, std::size_t bytes,
                                              std::span<const std::byte> diff) {
  if (diff.empty()) return true;
  DiffReader reader(bytes, diff);
  for (DiffGroup group; reader.next(group);) {
    if (!masks_valid(group)) return false;
    apply_words(target, group);
  }
  return reader.valid();
}

template <typename T>
[[gnu::always_inline]] inline void store_pieces(std::byte* to, const std::byte* bytes,
                                                std::uint32_t firsts) {
  for (; firsts != 0; firsts &= firsts - 1) {
    auto at = static_cast<std::size_t>(std::countr_zero(firsts));
    T piece;
    std::memcpy(&piece, bytes + at, sizeof piece);
    store_once(to + at, piece);
  }
}

// Stores the bytes of a vector that `mask` names: 8 or 4 at a time where all of them changed, else
// one by one.
[[gnu::target("avx2,bmi"), gnu::always_inline]] inline void store_changed(std::byte* to,
                                                                          __m256i now,
                                                                          std::uint32_t mask) {
  alignas(32) std::byte bytes[kVectorBytes];
  save(bytes, now);
  std::uint32_t halves = mask & mask >> 1 & mask >> 2 & mask >> 3 & 0x11111111u;
  store_pieces<std::uint32_t>(to, bytes, halves);
  store_pieces<std::uint8_t>(to, bytes, mask & ~(halves * 0xf));
}

[[gnu::target("avx2,popcnt,bmi"), gnu::always_inline]] inline std::size_t store_vector(
    const std::byte* page, std::byte* twin, std::byte* home, bool update_twin) {
  __m256i now = load_once(page);
  std::uint32_t mask = changed_bytes(now, load(twin));
  if (mask == 0) return 0;
  if (mask == 0xffffffffu) {
    save(home, now);
  } else {
    store_changed(home, now, mask);
  }
  if (update_twin) save(twin, now);
  return static_cast<std::size_t>(_mm_popcnt_u32(mask));
}

[[gnu::target("avx2,popcnt,bmi")]] std::size_t store(const std::byte* page, std::byte* twin,
                                                     std::byte* home, std::size_t bytes,
                                                     bool update_twin) {
  std::size_t changed = 0;
  for (std::size_t at = 0; at < bytes; at += 64) {
    if (!differs(page + at, twin + at)) continue;
    changed += store_vector(page + at, twin + at, home + at, update_twin);
    changed += store_vector(page + at + 32, twin + at + 32, home + at + 32, update_twin);
  }
  return changed;
}

[[gnu::target("avx2")]] void copy(const std::byte* from, std::byte* page, std::byte* twin,
                                  std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kVectorBytes) {
    __m256i vector = load_once(from + at);
    save(page + at, vector);
    if (twin != nullptr) save(twin + at, vector);
  }
}

}  // namespace

const DiffKernels kAvx2Kernels = {"avx2", encode, apply, store, copy};

}  // namespace terrane::platform

#endif
