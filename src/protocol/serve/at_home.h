#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/steps/block_table.h"
#include "protocol/steps/strand.h"

// The home's half of the protocol: what a thread does with the words and the bytes of a home. Where
// the home's memory is in reach, the reader's or the writer's own thread does it; elsewhere the
// thread that serves messages at the home does it for them. It works in steps, as an operation
// does: other threads act between any two of them.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

enum class Purpose : std::uint8_t { kRead, kStore };

// What a home word answers: the bytes may be used here; `ask` has the block now; or the home is
// just moving here, from `ask` if it was here before.
struct HomeAnswer {
  enum class What : std::uint8_t { kUsable, kElsewhere, kNotYet };
  What what = What::kUsable;
  NodeId ask = kNoNode;
};

// follows: another home's word named the node that has this word.
inline HomeAnswer answer_of(std::uint32_t word, bool follows, Purpose purpose) {
  using enum HomeAnswer::What;
  bool reads = purpose == Purpose::kRead;
  bool arrived = !(word & kComing) && (!follows || word & (kHere | kMoved));
  bool early = mutant(reads ? Mutant::kReadTooEarly : Mutant::kStoreTooEarly);
  if (!arrived && !early) return {kNotYet, word & kMoved ? home_in(word) : kNoNode};
  bool former = mutant(reads ? Mutant::kReadFormerHome : Mutant::kStoreAtFormerHome);
  if (word & kMoved && !former) return {kElsewhere, home_in(word)};
  return {kUsable};
}
// Whether the word offers the home to the node, which may take it now by a swap.
inline bool is_armed_for(std::uint32_t word, NodeId node) {
  return word & kOffered && word & kArmed && home_in(word) == node;
}

// For whom AtHome::read reads: says which blocks may be read, takes homes, copies bytes.
// By itself it admits all blocks and takes no home.
class HomeReader {
 public:
  virtual ~HomeReader() = default;
  // Copies the bytes of blocks of the run that is read, from its first one on.
  virtual Task<> copy(Strand& s, BlockRange blocks) = 0;
  // Whether the block may be read, whose bytes are here as its word says.
  virtual bool admits(std::uint64_t, std::uint32_t) const { return true; }
  // Whether the reader takes the home that the word offers.
  virtual bool wants_home(std::uint32_t) const { return false; }
  // Takes it. False: the word has changed.
  virtual Task<bool> take(Strand&, std::uint64_t, std::uint32_t) { co_return false; }
  // The bytes of the homes that were taken are copied.
  virtual Task<> end_take(Strand&) { co_return; }
};

class AtHome {
 public:
  static constexpr std::uint32_t kMaxRun = 16;

  // Reads the first blocks of the run as far as their words allow it and give the same answer:
  // loads the word, sets "wanted" unless the block is tracked, copies the bytes, and loads the word
  // again. `result.same` is left to moved_together().
  Task<FetchResult> read(Strand& s, BlockRange run, NodeId home, bool follows, HomeReader& reader);
  // How many of the blocks have moved to `next`, as their words at `home` say. The first one has.
  Task<std::uint64_t> moved_together(Strand& s, BlockRange run, NodeId home, NodeId next);
  // For a thread that counts as storing (CountFlush): whether what `writer` wrote may be stored at
  // this home. Ends an offer to another node, which would take bytes that lack the writer's.
  Task<HomeAnswer> may_store(Strand& s, NodeId home, std::uint64_t block, NodeId writer,
                             bool follows);
  // Does the operation in the home's memory, if the block is there. It counts as a store.
  Task<AtomicAnswer> atomic(Strand& s, NodeId home, std::uint64_t block, AtomicOp op, NodeId writer,
                            bool follows);

 private:
  Task<bool> stayed(Strand& s, NodeId home, std::uint64_t block, std::uint32_t word);
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
