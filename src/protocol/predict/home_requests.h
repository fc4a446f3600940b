#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"
#include "protocol/predict/streams.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A node that misses pages in order asks for the homes of what follows: a writer at once, and a
// node that reads them after a while, where there is much room, since what a master has filled
// most likely is the reader's part (next touch). Not where other nodes of its cluster may read the
// same: a home that lies with one reader lies across the link from the writer, which then fetches
// what it writes, and the pushes to the others begin anew. By any thread at any time.
class HomeRequests {
 public:
  explicit HomeRequests(Past& past) : past_(past) {}

  // Of how many blocks, from the missed one on, the homes are asked for.
  std::uint64_t count(const Miss& miss, const Streams& streams) const {
    bool asks = miss.movable && streams.goes_on(miss.block) &&
                streams.asked(miss.block) <= miss.block && is_worth(miss, streams);
    const std::uint64_t most = past_.tunables.most_asked;
    return asks ? std::min(most, 2 * streams.length(miss.block)) : 0;
  }
  // A home that is releasing offers nothing, and is asked again soon.
  void note(const Miss& miss, std::uint64_t end, std::uint64_t offered, Streams& streams) const {
    bool again = offered == 0 && miss.access == Access::kWrite;
    streams.note_asked(miss.block, again ? miss.block + past_.tunables.max_run : end);
  }
  // A stream whose homes were asked for comes near the end of those, by two misses.
  BlockRange next(const Miss& miss, std::uint64_t reached, std::uint64_t extent_end,
                  Streams& streams) const {
    const Tunables& t = past_.tunables;
    std::uint64_t asked = streams.asked(miss.block);
    std::uint64_t near = 2 * std::uint64_t{t.runs_ahead + 1} * t.max_run;
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
