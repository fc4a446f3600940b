#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "protocol/push/push_tree.h"
#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a home sent last of each subscribed block, with its version. A block that has not changed is
// sent as its version alone: a reader that still has what came with that version keeps it. Owns
// copies of these blocks, at most `most`. One thread at a time.
class SentPushes {
 public:
  struct Sent {
    std::uint32_t version;  // not 0
    bool same;              // the same bytes went with this version before
  };

  explicit SentPushes(std::size_t block_bytes, std::size_t most = kMostSentPushes,
                      std::uint32_t whole = kWholePushes)
      : block_bytes_(block_bytes), most_(most), whole_(whole) {}

  // The block is about to be sent with these bytes, at barrier exit `number`, or with an arrival
  // (0). whole: the bytes go in any case. They also go in each of several runs of one barrier exit,
  // since a reader uses only one of these.
  Sent send(std::uint64_t block, const std::byte* bytes, std::uint32_t number, bool whole) {
    if (sent_.size() >= most_ && !sent_.contains(block)) sent_.clear();
    Kept& kept = sent_[block];
    bool again = kept.times > 0 && number != 0 && kept.number == number;
    bool equal = kept.times > 0 && std::memcmp(kept.bytes.data(), bytes, block_bytes_) == 0;
    if (equal && !again && !whole && kept.times >= whole_) return {kept.version, true};
    if (!again) ++kept.times;
    kept.number = number;
    if (equal) return {kept.version, false};
    kept.bytes.assign(bytes, bytes + block_bytes_);
    kept.version = next_;
    if (++next_ == 0) next_ = 1;
    return {kept.version, false};
  }
  // The same for all blocks of a part, whose bytes are at `bytes`: sets the part's versions and
  // `same` bits, and closes the gaps between the bytes that are sent.
  void send(PushPart& part, std::byte* bytes, bool whole) {
    std::byte* to = bytes;
    part.versions.resize(part.head.blocks);
    for (std::uint32_t i = 0; i < part.head.blocks; ++i) {
      const std::byte* from = bytes + i * block_bytes_;
      Sent sent = send(part.head.block + i, from, part.head.number, whole);
      part.versions[i] = sent.version;
      if (sent.same) part.head.same |= 1u << i;
      if (sent.same) continue;
      if (to != from) std::memcpy(to, from, block_bytes_);
      to += block_bytes_;
    }
    part.bytes = {bytes, to};
  }
  // A reader had to ask for the blocks: their next pushes are whole.
  void forget(BlockRange run) {
    if (sent_.empty()) return;
    for (std::uint64_t b = run.first; b < run.end(); ++b) sent_.erase(b);
  }

 private:
  struct Kept {
    std::uint32_t version = 0;
    std::uint32_t times = 0;   // sent whole, each time at another barrier exit
    std::uint32_t number = 0;  // the latest of these exits
    std::vector<std::byte> bytes;
  };

  std::size_t block_bytes_;
  std::size_t most_;
  std::uint32_t whole_;
  std::unordered_map<std::uint64_t, Kept> sent_;
  std::uint32_t next_ = 1;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
