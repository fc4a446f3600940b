#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Bytes first .. first + count - 1 of a block.
struct ByteRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  std::uint32_t end() const { return first + count; }
  bool operator==(const ByteRange&) const = default;
};

// The node whose threads changed some bytes, and in which of its intervals.
struct Change {
  NodeId node{};
  std::uint32_t interval = 0;

  bool operator==(const Change&) const = default;
};

// A node that stores its changes at a home. `known`: its vector timestamp, with an entry for each
// node, when it compared its bytes: it knows these intervals, and its own next one is under way.
// The caller keeps it.
struct Writer {
  NodeId node{};
  std::span<const std::uint32_t> known;

  Change change() const { return {node, known[node.value] + 1}; }
  bool knows(const Change& other) const { return known[other.node.value] >= other.interval; }
};

// Two nodes have changed the same bytes, and nothing orders the two changes. same_value: both put
// the same value there.
struct Race {
  std::uint64_t block = 0;
  ByteRange bytes;
  Change earlier;  // the change that was at the home first
  Change later;
  bool same_value = false;
};

class RaceSink {
 public:
  virtual ~RaceSink() = default;
  virtual void found(const Race& race) = 0;
};

// Bytes of a block, a bit each: byte i is bit i % 64 of word i / 64.
using ByteMask = std::vector<std::uint64_t>;

// Finds write-write races between nodes, at the homes of a node (`--check=races`). For each byte of
// a home it keeps the last change. A change whose writer does not know the interval of the one
// before races with it: neither happened before the other, since a change that happened before
// another is at the home before it (completed flush). If a byte has changes that race, at least one
// pair of them follow each other there, so that some race of this byte is found (as by FastTrack;
// Flanagan, Freund: PLDI 2009). Order is known between nodes only: threads of one node count as
// one.
//
// The host calls all functions of a node one after the other, together with the steps whose bytes
// they look at (CompareHome, ApplyDiff, PerformAtomic, and CopyTwin of a home).
class RaceCheck {
 public:
  // nodes: of the job. sink: owned by the caller, called by the thread that calls compare() or
  // arrives().
  RaceCheck(NodeId self, std::uint32_t nodes, std::size_t block_bytes, RaceSink& sink);
  RaceCheck(const RaceCheck&) = delete;

  // What threads of this node have changed in its home block: where `page`, to which they may store
  // meanwhile, differs from `twin`. The twin follows. Result: the number of bytes.
  std::uint64_t compare(std::uint64_t block, const Writer& self, const std::byte* page,
                        std::byte* twin);
  // The bytes `changed` of another node's copy have arrived, and are about to be stored in the page
  // and, unless it is nullptr, the twin. `now`: their values, each at its place in the block.
  void arrives(std::uint64_t block, const Writer& writer, const ByteMask& changed,
               const std::byte* now, const std::byte* page, const std::byte* twin);
  // Nothing is known any more of who changed these bytes: an atomic operation did, which is
  // ordered with others of its kind.
  void forget(std::uint64_t block, ByteRange bytes);
  // The same for whole blocks, whose memory is given back.
  void forget(BlockRange blocks);

 private:
  // The bytes of a block that this change was the last one of.
  struct Last {
    Change by;
    ByteMask bytes;
  };
  using Lasts = std::vector<Last>;               // no byte is in two of them
  static constexpr std::size_t kMostLasts = 12;  // of a block, or one of each node

  std::uint64_t find_changed(const std::byte* twin);
  void enter(std::uint64_t block, const Writer& writer, const ByteMask& changed,
             const std::byte* before, const std::byte* now);
  void look_at_own(const Writer& writer, const ByteMask& changed, const std::byte* now,
                   const std::byte* page, const std::byte* twin);
  static void join_oldest(Lasts& lasts);
  void learn(const Writer& writer);
  bool is_known_to_all(const Change& change) const {
    return all_know_[change.node.value] >= change.interval;
  }
  void add(const ByteMask& one, const ByteMask& other, const Change& earlier, const Change& later,
           const std::byte* before, const std::byte* now);
  void tell(std::uint64_t block);

  NodeId self_;
  std::size_t block_bytes_;
  RaceSink& sink_;
  std::vector<std::byte> loaded_;  // what compare() found, loaded once
  ByteMask changed_;
  std::vector<Race> found_;      // by one call; one value a race
  std::vector<bool> differing_;  // by word of the block: a race of it has two values
  // What each node knew when it stored here last; and which interval of each node all others knew
  // then: no later change races with one of it, or of one before.
  std::vector<std::vector<std::uint32_t>> seen_;
  std::vector<std::uint32_t> all_know_;
  std::unordered_map<std::uint64_t, Lasts> lasts_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
