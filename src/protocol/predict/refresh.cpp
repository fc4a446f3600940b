#include "protocol/predict/refresh.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

void Refresh::missed(std::uint64_t block) {
  const Tunables& t = past_.tunables;
  BlockHistory& past = past_.of(block);
  std::uint32_t since = past_.since(past);
  if (since > t.apart || past.missed == 0) {
    past.missed = 1;
  } else if (since != 0 && past.missed < 255) {
    if (past.refreshes >= past_.most_refreshes(past)) mark(Mark::kAcquireProvesRefresh);
    past.missed = static_cast<std::uint8_t>(past.missed + 1);
  }
  past.round = past_.round();
  past.refreshes = past_.is_refreshed(past) ? 0 : 1;  // 0: it has been shown to be used
  if (past.dropped == 0) return;
  auto locks = static_cast<std::uint16_t>(past_.locks() - past.dropped);
  if (locks > t.apart) past.missed_after_locks = 0;
  if (past.missed_after_locks < 255)
    past.missed_after_locks = static_cast<std::uint8_t>(past.missed_after_locks + 1);
  past.dropped = 0;
}

bool Refresh::becomes_refreshed(std::uint64_t block, bool predicted) const {
  const Tunables& t = past_.tunables;
  const BlockHistory& past = past_.of(block);
  if (past.on_probation || !past_.on(Heuristic::kRefresh)) return false;
  std::uint32_t since = past_.since(past);
  if (since > t.apart || past.missed == 0) return t.refresh_after <= 1 || predicted;
  return past.missed + (since != 0 ? 1 : 0) >= t.refresh_after;
}

void Refresh::shown_by_neighbour(std::uint64_t block) {
  BlockHistory& past = past_.of(block);
  bool refreshed_lately = past_.is_refreshed(past) && past_.since(past) <= past_.tunables.apart;
  if (past.refreshes == 0 || (!refreshed_lately && past.refreshes < past_.most_refreshes(past)))
    return;
  mark(Mark::kFaultProvesNeighbour);
  past.refreshes = 0;
  past.round = past_.round();
}

// Whether the copy is refreshed: at barriers if it was needed up to this round, else if it was
// missed after acquires of locks. A copy that is pushed is refreshed however long ago it was
// needed: its bytes are here.
bool Refresh::is_refreshed(std::uint64_t block, bool barrier, const CopiesAtAcquire& copies) const {
  const Tunables& t = past_.tunables;
  const BlockHistory& past = past_.of(block);
  if (!barrier)
    return past.missed_after_locks >= t.refresh_after && past_.on(Heuristic::kLockRefresh) &&
           copies.is_copy(block);
  if (past.missed == 0 || !past_.on(Heuristic::kRefresh) || !copies.is_copy(block)) return false;
  if (past_.is_refreshed(past) && past_.since(past) < t.apart) return true;
  return copies.is_pushed(block);
}

// Whether the copy has to be dropped. One on probation is dropped so that a miss shows that it is
// used. Others were unmapped for that some rounds before, and no thread has used them.
bool Refresh::is_due(const BlockHistory& past) const {
  std::uint32_t apart = past.on_probation || past_.refreshes_many() ? 0 : past_.tunables.apart;
  return past.refreshes >= past_.most_refreshes(past) + apart;
}

// Whether the block would be refreshed without its neighbours, and was never missed by itself: then
// one page, which perhaps no thread needs, would need its own message.
bool Refresh::is_left_over(std::uint64_t block, BlockRange run,
                           const CopiesAtAcquire& copies) const {
  if (!past_.of(block).on_probation || copies.is_reached(block)) return false;
  auto goes_on = [&](std::uint64_t b) {
    return is_refreshed(b, true, copies) && copies.home(b) == copies.home(block);
  };
  if (block + 1 < run.end() && goes_on(block + 1)) return false;
  return block == run.first || !past_.of(block - 1).on_probation || !goes_on(block - 1);
}

// How many of the first blocks are dropped. With a copy that is due, the refreshed copies behind it
// are dropped, as many as one miss prefetches again. One by one they would cut the runs that their
// home pushes.
std::uint64_t Refresh::count_dropped(BlockRange run, bool barrier,
                                     const CopiesAtAcquire& copies) const {
  std::uint64_t group_end = 0;
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (!is_refreshed(b, barrier, copies)) {
      group_end = 0;
    } else if (b >= group_end || copies.home(b) != copies.home(b - 1)) {
      bool left_over = barrier && is_left_over(b, run, copies);
      if (left_over) mark(Mark::kAcquireDropsLeftOver);
      if (!left_over && !is_due(past_.of(b))) return b - run.first;
      group_end = left_over ? 0 : b + past_.tunables.max_run;
    }
  }
  return run.count;
}

AcquirePlan Refresh::plan(BlockRange run, bool barrier, const CopiesAtAcquire& copies) const {
  std::uint64_t drops = count_dropped(run, barrier, copies);
  if (drops > 0) return {.blocks = drops};
  bool on_probation = past_.of(run.first).on_probation;
  std::uint64_t most = std::min<std::uint64_t>(run.count, past_.tunables.max_run);
  std::uint64_t count = 1;
  while (count < most && is_refreshed(run.first + count, barrier, copies) &&
         past_.of(run.first + count).on_probation == on_probation)
    ++count;
  return {.blocks = count, .refresh = true};
}

// At the acquire of a lock: a miss soon afterwards shows that the copies were needed. At a barrier:
// if many copies are refreshed, one that was not used begins anew.
void Refresh::dropped(BlockRange run, bool barrier) {
  if (barrier) {
    for (std::uint64_t b = run.first; b < run.end() && past_.refreshes_many(); ++b)
      if (past_.is_refreshed(past_.of(b))) past_.of(b).missed = 0;
    return;
  }
  std::uint16_t locks = past_.locks();
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    past_.of(b).dropped = locks == 0 ? std::uint16_t{1} : locks;
}

// Copies that are refreshed together, one of which was missed lately, have shown their use
// together.
void Refresh::show_together(BlockRange run) {
  if (past_.of(run.first).on_probation) return;
  std::uint8_t least = 255;
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    least = std::min<std::uint8_t>(least, past_.of(b).refreshes);
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockHistory& past = past_.of(b);
    if (past.refreshes == least || past.prefetched >= past_.tunables.most_prefetched) continue;
    mark(Mark::kAcquireProvesNeighbour);
    past.refreshes = least;
    past.prefetched = static_cast<std::uint8_t>(past.prefetched + 1);
  }
}

void Refresh::refreshed(BlockRange run, bool barrier) {
  if (barrier) show_together(run);
  if (barrier && run.count >= past_.tunables.max_run) past_.count_refreshed(run.count);
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockHistory& past = past_.of(b);
    if (barrier) past.round = past_.round() + 1;
    if (past.missed > 0 && !past_.is_refreshed(past)) {
      mark(past.refreshes > 0 ? Mark::kAcquireRefreshesPredicted : Mark::kAcquireProvesPredicted);
      if (past.refreshes == 0) past.missed = past_.tunables.refresh_after;
    }
    if (past.refreshes < 255) past.refreshes = static_cast<std::uint8_t>(past.refreshes + 1);
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
