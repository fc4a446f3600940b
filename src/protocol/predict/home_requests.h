#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"
#include "protocol/predict/streams.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A node that misses pages in order asks for the homes of the pages that follow. A writer asks at
// once. A reader asks after a number of pages, if it has much free memory: what one node has filled
// most likely is the reader's part (next touch). A reader does not ask if other nodes of its
// cluster may read the same pages: with the home at one reader, the writer would have to fetch its
// pages over the link, and the pushes to the other readers would begin anew. By any thread at any
// time.
class HomeRequests {
 public:
  explicit HomeRequests(Past& past) : past_(past) {}

  // For how many blocks, from the missed one on, the node asks for the homes.
  std::uint64_t count(const Miss& miss, const Streams& streams) const {
    bool asks = miss.movable && streams.goes_on(miss.block) &&
                streams.asked(miss.block) <= miss.block && is_worth(miss, streams);
    const std::uint64_t most = past_.tunables.most_asked;
    return asks ? std::min(most, 2 * streams.length(miss.block)) : 0;
  }
  // The node has asked for the homes up to `end`. A home that is releasing offers nothing, and is
  // asked again soon.
  void note(const Miss& miss, std::uint64_t end, std::uint64_t offered, Streams& streams) const {
    bool again = offered == 0 && miss.access == Access::kWrite;
    streams.note_asked(miss.block, again ? miss.block + past_.tunables.max_run : end);
  }
  // If a stream comes within two misses of the end of the blocks whose homes were asked for: the
  // blocks whose homes to ask for next.
  BlockRange next(const Miss& miss, std::uint64_t reached, std::uint64_t extent_end,
                  Streams& streams) const {
    const Tunables& t = past_.tunables;
    std::uint64_t asked = streams.asked(miss.block);
    std::uint64_t near = 2 * std::uint64_t{t.runs_pipelined + 1} * t.max_run;
    bool asks = miss.movable && asked > miss.block && asked < reached + near && asked < extent_end;
    if (!asks) return {};
    BlockRange next{asked, std::min<std::uint64_t>(t.most_asked, extent_end - asked)};
    streams.note_asked(miss.block, next.end());
    return next;
  }

 private:
  bool is_worth(const Miss& miss, const Streams& streams) const {
    if (miss.access == Access::kWrite) return past_.on(Heuristic::kAskHomesToWrite);
    std::uint64_t least = past_.tunables.reads_ask;
    if (least == 0 || miss.shared_link || !past_.on(Heuristic::kAskHomesToRead)) return false;
    return streams.length(miss.block) >= least && miss.adaptive && miss.much_room;
  }

  Past& past_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
