#include "protocol/races/race_check.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

constexpr std::uint32_t kWordBytes = 8;

#ifdef __SSE2__
// Bit i set where byte i of the 64 bytes is not the same in both.
std::uint64_t differing_bytes(const std::byte* one, const std::byte* other) {
  constexpr int kVector = 16;
  std::uint64_t same = 0;
  for (int i = 3; i >= 0; --i) {
    auto load = [i](const std::byte* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * kVector));
    };
    auto equal = _mm_movemask_epi8(_mm_cmpeq_epi8(load(one), load(other)));
    same = same << kVector | static_cast<std::uint32_t>(equal);
  }
  return ~same;
}
#else
std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, kWordBytes);
  return word;
}

// Bit i set where byte i of the word is not zero.
std::uint64_t nonzero_bytes(std::uint64_t word) {
  constexpr std::uint64_t kLow7 = 0x7f7f7f7f7f7f7f7fu;
  std::uint64_t high = (((word & kLow7) + kLow7) | word) & ~kLow7;
  return ((high >> 7) * 0x0102040810204080u) >> 56;
}

std::uint64_t differing_bytes(const std::byte* one, const std::byte* other) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < 64; i += kWordBytes) {
    std::uint64_t difference = load_word(one + i) ^ load_word(other + i);
    if (difference != 0) mask |= nonzero_bytes(difference) << i;
  }
  return mask;
}
#endif

// As std::popcount, which is a call where the processor may lack the instruction.
std::uint64_t count_bits(std::uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return bits * 0x0101010101010101u >> 56;
}

// Calls run(ByteRange, answer) for the runs of bytes in the range for which ask(byte) answers the
// same.
template <typename Ask, typename Run>
void each_run(ByteRange bytes, Ask ask, Run run) {
  for (ByteRange same{bytes.first, 0}; same.first < bytes.end(); same = {same.end(), 0}) {
    bool answer = ask(same.first);
    while (same.end() < bytes.end() && ask(same.end()) == answer) ++same.count;
    run(same, answer);
  }
}

// Calls run(ByteRange) for the runs of bytes that are in both masks.
template <typename Run>
void each_common_run(const ByteMask& one, const ByteMask& other, Run run) {
  ByteRange open{};
  for (std::size_t w = 0; w < one.size(); ++w) {
    for (std::uint64_t bits = one[w] & other[w]; bits != 0; bits &= bits - 1) {
      auto at =
          static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (open.count > 0 && open.end() != at) run(std::exchange(open, {}));
      if (open.count == 0) open.first = at;
      ++open.count;
    }
  }
  if (open.count > 0) run(open);
}

}  // namespace

RaceCheck::RaceCheck(NodeId self, std::uint32_t nodes, std::size_t block_bytes, RaceSink& sink)
    : self_(self),
      block_bytes_(block_bytes),
      sink_(sink),
      loaded_(block_bytes),
      changed_(block_bytes / 64),
      seen_(nodes, std::vector<std::uint32_t>(nodes)),
      all_know_(nodes) {}

// Where loaded_ differs from the twin, in changed_. Result: how many bytes do.
std::uint64_t RaceCheck::find_changed(const std::byte* twin) {
  std::uint64_t bytes = 0;
  for (std::size_t w = 0; w < changed_.size(); ++w) {
    changed_[w] = differing_bytes(&loaded_[w * 64], twin + w * 64);
    bytes += count_bits(changed_[w]);
  }
  return bytes;
}

std::uint64_t RaceCheck::compare(std::uint64_t block, const Writer& self, const std::byte* page,
                                 std::byte* twin) {
  std::memcpy(loaded_.data(), page, block_bytes_);
  std::uint64_t bytes = find_changed(twin);
  if (bytes == 0) return 0;
  enter(block, self, changed_, twin, loaded_.data());
  std::memcpy(twin, loaded_.data(), block_bytes_);
  tell(block);
  return bytes;
}

void RaceCheck::arrives(std::uint64_t block, const Writer& writer, const ByteMask& changed,
                        const std::byte* now, const std::byte* page, const std::byte* twin) {
  if (twin != nullptr && !mutant(Mutant::kCheckMissesDisplaced))
    look_at_own(writer, changed, now, page, twin);
  enter(block, writer, changed, twin != nullptr ? twin : page, now);
  tell(block);
}

// What threads of this node have changed and no release has found yet. No other node knows it, and
// the writer stored its bytes before it let others know of them: so nothing orders the two.
void RaceCheck::look_at_own(const Writer& writer, const ByteMask& changed, const std::byte* now,
                            const std::byte* page, const std::byte* twin) {
  std::memcpy(loaded_.data(), page, block_bytes_);
  if (find_changed(twin) > 0)
    add(changed, changed_, {.node = self_}, writer.change(), loaded_.data(), now);
}

// These bytes have a new last change. `before`: what the earlier changes put there.
void RaceCheck::enter(std::uint64_t block, const Writer& writer, const ByteMask& changed,
                      const std::byte* before, const std::byte* now) {
  learn(writer);
  Lasts& lasts = lasts_[block];
  Change change = writer.change();
  Last* own = nullptr;
  for (Last& last : lasts) {
    if (last.by == change) own = &last;
    if (last.by.node != writer.node && !writer.knows(last.by))
      add(changed, last.bytes, last.by, change, before, now);
    for (std::size_t w = 0; w < changed.size() && own != &last; ++w) last.bytes[w] &= ~changed[w];
  }
  if (own != nullptr) {
    for (std::size_t w = 0; w < changed.size(); ++w) own->bytes[w] |= changed[w];
    return;
  }
  auto is_over = [this](const Last& last) {
    return is_known_to_all(last.by) ||
           std::all_of(last.bytes.begin(), last.bytes.end(), [](auto bits) { return bits == 0; });
  };
  // Most blocks have one writer: its new change takes the place of what it changed before.
  auto over = std::find_if(lasts.begin(), lasts.end(), is_over);
  if (over == lasts.end()) {
    if (lasts.size() >= kMostLasts) join_oldest(lasts);
    lasts.push_back({change, changed});
    return;
  }
  over->by = change;
  over->bytes = changed;
  lasts.erase(std::remove_if(over + 1, lasts.end(), is_over), lasts.end());
}

// Counts what a node changed in two intervals as of the first one. It may be taken to be known
// where it is not: a race may be missed, and none is invented.
void RaceCheck::join_oldest(Lasts& lasts) {
  for (auto first = lasts.begin(); first != lasts.end(); ++first) {
    auto is_same = [&](const Last& last) { return last.by.node == first->by.node; };
    auto second = std::find_if(first + 1, lasts.end(), is_same);
    if (second == lasts.end()) continue;
    for (std::size_t w = 0; w < first->bytes.size(); ++w) first->bytes[w] |= second->bytes[w];
    if (second->by.interval < first->by.interval) first->by = second->by;
    lasts.erase(second);
    return;
  }
}

// The writer knows more than when it stored here last.
void RaceCheck::learn(const Writer& writer) {
  std::vector<std::uint32_t>& seen = seen_[writer.node.value];
  if (std::equal(seen.begin(), seen.end(), writer.known.begin())) return;
  std::copy(writer.known.begin(), writer.known.end(), seen.begin());
  for (std::uint32_t n = 0; n < seen_.size(); ++n) {
    std::uint32_t least = ~0u;
    for (std::uint32_t other = 0; other < seen_.size(); ++other)
      if (other != n) least = std::min(least, seen_[other][n]);
    all_know_[n] = least;
  }
}

void RaceCheck::forget(std::uint64_t block, ByteRange bytes) {
  auto lasts = lasts_.find(block);
  if (lasts == lasts_.end()) return;
  for (Last& last : lasts->second)
    for (std::uint32_t i = bytes.first; i < bytes.end(); ++i)
      last.bytes[i / 64] &= ~(std::uint64_t{1} << i % 64);
}

void RaceCheck::forget(BlockRange blocks) {
  if (blocks.count < lasts_.size()) {
    for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) lasts_.erase(b);
    return;
  }
  std::erase_if(lasts_, [blocks](const auto& one) {
    return one.first >= blocks.first && one.first < blocks.end();
  });
}

// Two changes race where both have changed bytes.
void RaceCheck::add(const ByteMask& one, const ByteMask& other, const Change& earlier,
                    const Change& later, const std::byte* before, const std::byte* now) {
  each_common_run(one, other, [&](ByteRange bytes) {
    auto is_same = [&](std::uint32_t i) { return before[i] == now[i]; };
    each_run(bytes, is_same, [&](ByteRange run, bool same) {
      found_.push_back({.bytes = run, .earlier = earlier, .later = later, .same_value = same});
    });
  });
}

// Two values may have some bytes in common: a race has the same value only if no byte of its word
// differs.
void RaceCheck::tell(std::uint64_t block) {
  if (found_.empty()) return;
  differing_.assign(block_bytes_ / kWordBytes, false);
  for (const Race& race : found_)
    for (std::uint32_t i = race.bytes.first; i < race.bytes.end() && !race.same_value; ++i)
      differing_[i / kWordBytes] = true;
  for (Race& race : found_) {
    race.block = block;
    auto differs = [&](std::uint32_t i) { return differing_[i / kWordBytes]; };
    each_run(race.bytes, differs, [&](ByteRange run, bool two_values) {
      Race part = race;
      part.bytes = run;
      part.same_value = !two_values;
      sink_.found(part);
    });
  }
  found_.clear();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
