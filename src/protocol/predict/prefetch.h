#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"
#include "protocol/predict/streams.h"

// What a miss of a copy prefetches. By any thread at any time.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Prefetches copies behind the missed block that were here before: blocks that were needed together
// will be so again. Each is left out now and then, so that a miss of its own shows that it is
// needed.
class Neighbours {
 public:
  explicit Neighbours(Past& past) : past_(past) {}

  // Whether the block was here before, and is not left out this time.
  bool was_here(const BlockHistory& block) const {
    const Tunables& t = past_.tunables;
    return block.prefetched > 0 &&
           block.prefetched < (block.on_probation ? t.most_on_probation : t.most_prefetched);
  }
  // Whether it was prefetched so often on probation that it needs a miss of its own.
  bool is_tried(const BlockHistory& block) const {
    return block.on_probation && block.prefetched >= past_.tunables.most_on_probation;
  }
  // How many blocks from this one on are fetched with a miss, up to `most`.
  std::uint64_t count(std::uint64_t block, std::uint64_t most) const;
  // The block is prefetched. Result: whether it is on probation from now on.
  bool note(std::uint64_t block);

 private:
  Past& past_;
};

// Misses in order prefetch as many blocks again as came in order so far: after a row of two pages
// more may not be wanted. Owns the streams.
class Sequential {
 public:
  explicit Sequential(Past& past, const Neighbours& neighbours)
      : past_(past), neighbours_(neighbours) {}

  Streams& streams() { return streams_; }
  // How many blocks from this one on are fetched with its miss; 0: it continues no stream. far:
  // over a link, where a request takes so long that a stream gets full ones from its second miss
  // on.
  std::uint64_t count(std::uint64_t block, bool far) const;
  // How many blocks from `first` on, up to `most`, a stream may prefetch.
  std::uint64_t may_come(std::uint64_t first, std::uint64_t most) const;
  // A miss of the block continues a stream: the blocks of the stream's latest request were used.
  void prove(std::uint64_t block);

 private:
  Past& past_;
  const Neighbours& neighbours_;
  Streams streams_;
};

// Streams of one length, as when parts of the rows of a matrix are read, show how long the next one
// is: its first miss prefetches all of it.
class RunLength {
 public:
  explicit RunLength(const Past& past) : past_(past) {}

  // How many blocks are fetched with a miss that continues no stream.
  std::uint64_t count();
  void ended(Streams::Ended over);

 private:
  const Past& past_;
  Guess<std::uint32_t> length_;
  Guess<std::uint32_t> on_end_;  // streams of this length, minus those of another
  Guess<std::uint32_t> begun_;
};

// Misses in descending order, as when a large array is copied, prefetch the blocks before.
class Backward {
 public:
  explicit Backward(const Past& past) : past_(past) {}

  std::uint64_t count(std::uint64_t block, const Sequential& sequential);
  void note(BlockRange before) {
    std::uint64_t at = past_.blocks() - before.end();
    falling_.note(at, at + before.count);
  }
  void forget(BlockRange range) {
    falling_.forget(past_.blocks() - range.end(), past_.blocks() - range.first);
  }

 private:
  const Past& past_;
  Streams falling_;  // blocks are counted from the end of the space
};

// Long streams keep several requests under way: the home makes one answer while another one
// travels. At a node with little memory left, more requests follow each other in one miss, the
// longer a stream is: each miss there may have to evict copies first.
class Pipeline {
 public:
  explicit Pipeline(const Past& past) : past_(past) {}

  // far: as Sequential::count(); such a stream is pipelined after one full request.
  PipelinePlan plan(BlockRange run, std::uint64_t extent, const Miss& miss,
                    const Sequential& sequential, const Streams& streams) const;

 private:
  const Past& past_;
};

// First writes in order, upwards or downwards, also claim homes beyond them, half as many as were
// written so far. A home that is claimed in vain follows its writer.
class Claims {
 public:
  explicit Claims(const Past& past) : past_(past) {}

  ClaimPlan plan(std::uint64_t block) const;
  void note(std::uint64_t block, BlockRange claimed);
  void forget(BlockRange range) {
    rising_.forget(range.first, range.end());
    falling_.forget(past_.blocks() - range.end(), past_.blocks() - range.first);
  }

 private:
  std::uint64_t count(const Streams& streams, std::uint64_t at) const;
  std::uint64_t from_end(std::uint64_t block) const { return past_.blocks() - 1 - block; }

  const Past& past_;
  Streams rising_;
  Streams falling_;  // blocks are counted from the end of the space
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
