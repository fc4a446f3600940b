#include "protocol/hlrc/hlrc.h"
#include "protocol/steps/runs.h"

// Eager release consistency: copies of what a release changed are gone, or up to date, before it
// ends, so locks and barriers carry no notices of such blocks. What a release has to tell goes to
// all nodes (expiry.h); a handler of each drops its copies. Nobody waits in a handler for another
// handler: a releaser waits for the answers without the consistency lock, which they need.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What this release has to tell -> s.runs. Result: the number of the latest expiry that was begun.
// Under the consistency lock.
std::uint32_t Hlrc::begin_expiry(Strand& s) {
  s.runs.clear();
  s.runs.swap(eager_);
  if (mutant(Mutant::kExpiryForgotten)) s.runs.clear();
  if (!s.runs.empty()) {
    ++expiries_;
    acquired_.fetch_add(1);
  }
  for (const BlockRange& run : s.runs) note_eager_writer(run, config_.self);
  return expiries_;
}

// Tells it, and waits until all copies are gone. What a sibling's release found of our writes is
// told by that one: it, too, is waited for. They end in the order in which they began.
Task<> Hlrc::finish_expiry(Strand& s, std::uint32_t number) {
  bool tells = !s.runs.empty();
  if (tells) {
    mark(Mark::kReleaseExpires);
    join(s.runs);
    Event tell = ExpireCopies{&s.runs, s.waiter()};
    co_await s.call(tell);
  }
  std::uint32_t until = tells ? number - 1 : number;
  std::uint32_t seen = expired_.load(std::memory_order_acquire);
  while (static_cast<std::int32_t>(seen - until) < 0) {
    if (!tells && mutant(Mutant::kSiblingsExpiryUnawaited)) co_return;
    mark(Mark::kReleaseWaitsForExpiry);
    co_await s.wait(expired_, seen);
    seen = expired_.load(std::memory_order_acquire);
  }
  if (!tells) co_return;
  expired_.store(number, std::memory_order_release);
  co_await s.wake(expired_);
}

Task<> Hlrc::expire(Strand& s, NodeId origin, Bytes ranges) {
  co_await enter(s);
  ++activity_;
  predictor_.lock_acquired();
  acquired_.fetch_add(1);
  s.runs.clear();
  BlockRange range;
  while (wire::take(ranges, range)) {
    note_eager_writer(range, origin);
    select_cached(s, range);
  }
  join(s.runs);
  if (!s.runs.empty()) mark(Mark::kExpiryFindsCopies);
  Grant nothing;
  Departure at{.grant = nothing};
  for (std::size_t i = 0; i < s.runs.size(); ++i) {
    BlockRange run = s.runs[i];
    bool spared = mutant(Mutant::kExpirySparesBusy) && entries_[run.first].busy();
    if (!spared) co_await renew_or_invalidate(s, run, at);
  }
  co_await leave(s);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
