#pragma once

#include <algorithm>
#include <span>

#include "protocol/steps/effects.h"

// What a home answers to those that cannot reach its memory, block by block, by its word: they ask
// whoever serves messages there. What he finds he does as an operation does its steps: other
// threads act between any two of them.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// kFetch's `value`: the reader comes because another home sent it here, may take what is offered to
// it, and will want so many of the first blocks again at coming departures, which the home may
// promise.
inline constexpr std::uint64_t kFollows = 1;
inline constexpr std::uint64_t kMayTake = 2;
inline constexpr std::uint64_t kAgain = 4;
inline constexpr std::uint64_t again(std::uint64_t count) {
  return count == 0 ? 0 : kAgain | (count - 1) << 4;
}
inline constexpr std::uint64_t wanted_again(std::uint64_t how) {
  return how & kAgain ? (how >> 4 & 15) + 1 : 0;
}

// kFetch's result: a bit for each of the first kCame blocks that is tracked; how many came; whether
// they are the reader's own from now on. The high half is what the home promises (promises.h), or
// where none came the node to ask instead, for as many blocks as the low bits say.
inline constexpr std::uint32_t kFetchedCount = 1u << 16;
inline constexpr std::uint32_t kFetchedOwn = 1u << 24;
inline constexpr std::uint64_t fetched(std::uint32_t tracked, std::uint32_t count, bool own,
                                       std::uint32_t high) {
  return tracked | count * kFetchedCount | (own ? kFetchedOwn : 0) | std::uint64_t{high} << 32;
}
inline constexpr std::uint64_t fetched_nothing(NodeId ask, std::uint32_t alike) {
  return fetched(alike, 0, false, ask.value);
}
inline constexpr std::uint32_t fetched_count(std::uint64_t result) {
  return static_cast<std::uint32_t>(result) / kFetchedCount & 0xff;
}
// kTakeNews's result: a bit for each tracked block, and one for each that has not come, since it is
// the same as what came by its serial number before; or, where the home has nothing to send any
// more, and has to be asked, kNewsGone.
inline constexpr std::uint64_t taken(std::uint32_t tracked, std::uint32_t same) {
  return tracked | std::uint64_t{same} << 16;
}
inline constexpr std::uint64_t taken_tracked(std::uint64_t result) { return result & 0xffff; }
inline constexpr std::uint64_t taken_same(std::uint64_t result) { return result >> 16 & 0xffff; }
inline constexpr std::uint64_t kNewsGone = ~0ull;

// Whether the home with this word sends who asks to `home`.
inline constexpr bool moved_to(std::uint32_t word, NodeId home) {
  return word & kMoved && !(word & kComing) && home_in(word) == home;
}

struct FetchAnswer {
  enum class What : std::uint8_t {
    kCopy,       // the bytes; and the word once more: it must not have moved meanwhile (stayed)
    kOwn,        // the same, after a swap to `word`; the reader is the home from then on
    kElsewhere,  // `home` is to be asked
    kNotYet,     // the block is just coming here
  };
  What what;
  NodeId home{};
  std::uint32_t word = 0;
};

inline FetchAnswer answer_fetch(std::uint32_t word, NodeId reader, bool follows, bool may_take) {
  using enum FetchAnswer::What;
  if (word & kMoved && !mutant(Mutant::kServeFormerHome)) {
    mark(Mark::kServesElsewhere);
    return {kElsewhere, home_in(word)};
  }
  bool here = !(word & kComing) && (!follows || word & kHere);
  if (!here && !mutant(Mutant::kServeTooEarly)) {
    mark(Mark::kServesNotYet);
    return {kNotYet};
  }
  if (may_take && word & kOffered && word & kArmed && home_in(word) == reader) {
    mark(Mark::kServesOwn);
    return {kOwn, reader, word_for(reader) | kMoved | (word & kTimes)};
  }
  return {kCopy};
}

// Whether the block stayed here between two loads of its word.
inline bool stayed_here(std::uint32_t before, std::uint32_t now) {
  if (mutant(Mutant::kReadOnce) || mutant(Mutant::kServeFormerHome)) return true;
  if (mutant(Mutant::kNewsOfFormerHome)) return true;
  return !(now & kMoved) && (now & kTimes) == (before & kTimes);
}

// Of a block that was promised: what has moved, or what one of the readers may take, they have to
// ask for.
inline FetchAnswer answer_news(std::uint32_t word, std::span<const NodeId> readers) {
  bool gone = word & (kMoved | kComing) && !mutant(Mutant::kNewsOfFormerHome);
  bool armed = word & kOffered && word & kArmed;
  bool own = armed && std::find(readers.begin(), readers.end(), home_in(word)) != readers.end();
  if (!gone && !own) return {FetchAnswer::What::kCopy};
  mark(Mark::kServesNoNews);
  return {FetchAnswer::What::kElsewhere};
}

// kAskAtomic's result: done; the block is just moving, ask from the beginning; else the node to
// ask.
inline constexpr std::uint64_t kAtomicDone = ~0ull;
inline constexpr std::uint64_t kAtomicNotYet = ~0ull - 1;

struct FlushAnswer {
  enum class What : std::uint8_t {
    kApply,
    kEndOffer,  // by a swap to `word`, then once more
    kPassOn,    // to `home`, which has the block now
    kSendBack,  // the block is just coming here: to who sent it here, who looks once more
  };
  What what;
  NodeId home{};
  std::uint32_t word = 0;
};

// Of a difference of `origin`; `via`: the home that sent it on to here, or kNoNode.
inline FlushAnswer answer_flush(std::uint32_t word, NodeId origin, NodeId via) {
  using enum FlushAnswer::What;
  if (word & kMoved && !mutant(Mutant::kApplyAtFormerHome)) {
    mark(Mark::kServesPassOn);
    return {kPassOn, home_in(word)};
  }
  bool here = via == kNoNode || (word & kHere && !(word & kComing));
  if (!here && !mutant(Mutant::kApplyTooEarly)) {
    mark(Mark::kServesSendBack);
    return {kSendBack, via};
  }
  if (word & kOffered && home_in(word) != origin && !mutant(Mutant::kApplyKeepsOffer)) {
    mark(Mark::kServesEndOffer);
    return {kEndOffer, home_in(word), word & kStays};
  }
  return {kApply};
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
