#include "protocol/hlrc/fences.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Homes write untracked blocks without notices, so leases die also where no node has told anything.
Task<bool> Fences::fence(Strand& s) {
  if (node_.config.nodes == 1 || node_.config.sequential) co_return false;
  node_.predictor.acquired(true);
  if (!mutant(Mutant::kFenceWithoutRelease)) co_await releases_.release(s);
  co_await await_counted(s);
  bool moved = co_await hear(s);
  co_await await_others(s);
  bool leases = !moved && node_.has_leases() && !mutant(Mutant::kFenceKeepsLeases);
  if (leases) co_await acquires_.apply_at_fence(s, {});
  if (node_.core.announcements().is_quiet()) co_return moved;
  if (mutant(Mutant::kFenceUnannounced)) co_return moved;
  Event announce = Announce{s.waiter()};
  std::uint64_t answer = co_await s.call(announce);
  while (answer != 0) {
    moved = true;
    if (answer == Announcements::kCountFirst) co_await tell_counted(s);
    answer = co_await s.call(announce);
  }
  co_return moved;
}

// A thread of another node that sees this node's later stores sees the count as well, and waits for
// the announcement.
Task<> Fences::tell_counted(Strand& s) {
  if (!mutant(Mutant::kFenceUncounted)) co_await s.perform(CountAnnounced{});
  Event announce = Announce{s.waiter(), true};
  co_await s.call(announce);
}

Task<> Fences::await_counted(Strand& s) {
  const Announcements& announcements = node_.core.announcements();
  for (std::uint32_t n = 0; n < node_.config.nodes; ++n) {
    NodeId node{n};
    if (node == node_.config.self || !node_.reaches(node)) continue;
    std::uint32_t count = co_await s.perform(LoadAnnounced{node});
    if (announcements.have_come(node, count)) continue;
    Event await = AwaitAnnounced{node, count, s.waiter()};
    co_await s.call(await);
  }
}

// Another thread may have learned what was told here, and not have dropped its copies yet: it holds
// the consistency lock until then.
Task<> Fences::await_others(Strand& s) {
  if (node_.settled_activity() != kUnsettled || mutant(Mutant::kFenceTrustsUnapplied)) co_return;
  mark(Mark::kFenceAwaitsOthers);
  co_await acquires_.await_others(s);
}

// What others have told stays until this node has learned it, so that each thread here finds it
// until then.
Task<bool> Fences::hear(Strand& s) {
  bool heard = false;
  while (!node_.core.announcements().is_quiet()) {
    Event next = NextAnnounced{s.waiter()};
    if (co_await s.call(next) == 0) break;
    heard = true;
    std::vector<std::byte> notices = s.take_answer();
    co_await acquires_.apply_at_fence(s, notices);
  }
  co_return heard;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
