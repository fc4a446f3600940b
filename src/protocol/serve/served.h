#pragma once

#include <algorithm>
#include <span>

#include "protocol/steps/effects.h"

// What a home answers to nodes that cannot reach its memory, block by block, by the home's word.
// They ask the thread that serves messages there. It works in steps, as an operation does: other
// threads act between any two of them.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Whether the word says that the block's home has moved to `home`, which has to be asked.
inline constexpr bool moved_to(std::uint32_t word, NodeId home) {
  return word & kMoved && !(word & kComing) && home_in(word) == home;
}

struct FetchAnswer {
  enum class What : std::uint8_t {
    kCopy,       // the bytes, if the word, loaded again, shows that the home stayed (stayed_here)
    kOwn,        // the same, after a swap to `word`; the reader is the home from then on
    kElsewhere,  // the requester has to ask `home`
    kNotYet,     // the home is just moving here
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
  if (mutant(Mutant::kPushOfFormerHome)) return true;
  return !(now & kMoved) && (now & kTimes) == (before & kTimes);
}

// For a block that is pushed: if it has moved, or one of the readers may take its home, the readers
// have to ask for it.
inline FetchAnswer answer_push(std::uint32_t word, std::span<const NodeId> readers) {
  bool gone = word & (kMoved | kComing) && !mutant(Mutant::kPushOfFormerHome);
  bool armed = word & kOffered && word & kArmed;
  bool own = armed && std::find(readers.begin(), readers.end(), home_in(word)) != readers.end();
  if (!gone && !own) return {FetchAnswer::What::kCopy};
  mark(Mark::kServesNoPush);
  return {FetchAnswer::What::kElsewhere};
}

struct FlushAnswer {
  enum class What : std::uint8_t {
    kApply,
    kEndOffer,  // by a swap to `word`, then look again
    kPassOn,    // to `home`, which has the block now
    kSendBack,  // the home is just moving here: to the sender `home`, which looks again
  };
  What what;
  NodeId home{};
  std::uint32_t word = 0;
};

// For a difference of `origin`. `via`: the former home that sent it on to this node, or kNoNode.
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
