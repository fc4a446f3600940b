#include <algorithm>

#include "protocol/hlrc/hlrc.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

// Misses so many rounds apart are on end: programs with two grids read each of them in every other
// round, and write it in the one between, until when a tracked copy stays.
constexpr std::uint16_t kApart = 2;
// Renewals on end of a block on trial, which double with each time that it comes along again.
constexpr std::uint32_t kTrial = 3;
// The same of a copy that was missed once, and that its home has promised.
constexpr std::uint32_t kForeseen = 4;
// So often the renewals of one not on trial double.
constexpr std::uint32_t kMostDoubled = 2;

}  // namespace

// The round between two barriers that this node is in; counts round 65,536.
std::uint16_t Hlrc::round() const {
  return static_cast<std::uint16_t>(departures_.load(std::memory_order_relaxed) / 2 +
                                    held_.load(std::memory_order_relaxed));
}

void Hlrc::note_miss(std::uint64_t block) {
  BlockEntry& entry = entries_[block];
  auto since = static_cast<std::uint16_t>(round() - entry.round);
  if (since > kApart || entry.missed == 0) {
    entry.missed = 1;
  } else if (since != 0 && entry.missed < 255) {
    if (entry.renewed >= most_renewed(entry)) mark(Mark::kAcquireProvesRenewal);
    ++entry.missed;
  }
  entry.round = round();
  entry.renewed = entry.missed < config_.hot_after ? 1 : 0;  // 0: it has been shown to be used
  if (entry.dropped == 0) return;
  auto locks = static_cast<std::uint16_t>(lock_acquires_.load(std::memory_order_relaxed));
  if (static_cast<std::uint16_t>(locks - entry.dropped) > kApart) entry.missed_after_locks = 0;
  if (entry.missed_after_locks < 255) ++entry.missed_after_locks;
  entry.dropped = 0;
}

// Whether a miss of the block, in this round, is one after which it will be renewed at departures.
// foreseen: the first miss counts as well.
bool Hlrc::becomes_hot(std::uint64_t block, bool foreseen) const {
  const BlockEntry& entry = entries_[block];
  if (entry.propagation() != Propagation::kAdaptive || entry.on_trial) return false;
  auto since = static_cast<std::uint16_t>(round() - entry.round);
  if (since > kApart || entry.missed == 0) return config_.hot_after <= 1 || foreseen;
  return entry.missed + (since != 0 ? 1 : 0) >= config_.hot_after;
}

// Counts what is missed in this round. Whether it was little before.
bool Hlrc::count_missed(std::uint64_t blocks) {
  std::uint32_t seen = lately_missed_.load(std::memory_order_relaxed);
  std::uint32_t now = std::uint32_t{round()} << 16;
  std::uint32_t before = seen >> 16 == now >> 16 ? seen & 0xffff : 0;
  auto sum = static_cast<std::uint32_t>(std::min<std::uint64_t>(before + blocks, 0xffff));
  lately_missed_.store(now | sum, std::memory_order_relaxed);
  return before < config_.few_misses;
}

bool Hlrc::missed_many() const {
  std::uint32_t seen = lately_missed_.load(std::memory_order_relaxed);
  return seen >> 16 == round() && (seen & 0xffff) > config_.few_misses;
}

// What was renewed and dropped together is proven together: else each block of a run would be
// missed by itself, one in each round. So up to as often as a block comes along without a miss of
// its own.
void Hlrc::note_neighbours_miss(std::uint64_t block) {
  BlockEntry& entry = entries_[block];
  auto since = static_cast<std::uint16_t>(round() - entry.round);
  bool hot = entry.missed >= config_.hot_after && since <= kApart;
  if (entry.renewed == 0 || (!hot && entry.renewed < most_renewed(entry))) return;
  mark(Mark::kFaultProvesNeighbour);
  entry.renewed = 0;
  entry.round = round();
}

// The same for those that are renewed together, of which one was missed lately. Whose locks are
// held.
void Hlrc::prove_together(BlockRange run) {
  if (entries_[run.first].on_trial) return;
  std::uint8_t least = 255;
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    least = std::min(least, entries_[b].renewed.load());
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    BlockEntry& entry = entries_[b];
    if (entry.renewed == least || entry.brought >= kMostBrought) continue;
    mark(Mark::kAcquireProvesNeighbour);
    entry.renewed = least;
    ++entry.brought;
  }
}

// How often on end a copy is renewed. Then a fault has to show that it is used: soon where it never
// was missed by itself, and more seldom where it was time after time.
std::uint32_t Hlrc::most_renewed(const BlockEntry& entry) const {
  std::uint32_t most = config_.most_renewed;
  std::uint32_t again = entry.missed > config_.hot_after ? entry.missed - config_.hot_after : 0;
  bool foreseen = std::max(entry.missed.load(), entry.missed_after_locks) < config_.hot_after;
  if (!entry.on_trial && foreseen) return std::min(most, kForeseen);
  if (!entry.on_trial) return std::min(most << std::min(again, kMostDoubled), 255u);
  return std::min(most, kTrial << std::min(again, 8u));
}

// For copies that an acquire of a lock drops: a miss soon afterwards shows that they were needed.
void Hlrc::note_drop(BlockRange run) {
  auto locks = static_cast<std::uint16_t>(lock_acquires_.load(std::memory_order_relaxed));
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    entries_[b].dropped = locks == 0 ? 1 : locks;
}

// A copy whose region wants it renewed, or that was missed on end, or renewed instead: up to this
// round, or after acquires of locks. Or that comes unasked: its home has promised it. Under the
// consistency lock, without which a copy stays one.
bool Hlrc::is_hot(std::uint64_t block, Departure at) const {
  const BlockEntry& entry = entries_[block];
  BlockState state = entry.settled_state();
  bool copy = state == BlockState::kClean || state == BlockState::kWritten;
  if (!copy || entry.home() == kNoNode) return false;
  if (entry.propagation() != Propagation::kAdaptive)
    return entry.propagation() == Propagation::kUpdate;
  if (at.number == 0) return entry.missed_after_locks >= config_.hot_after;
  auto since = static_cast<std::uint16_t>(round() - entry.round);
  if (entry.missed >= config_.hot_after && since < kApart) return true;
  return entry.missed > 0 && !reaches(entry.home()) &&
         expectations_.covers(entry.home(), {block, 1}, at.number);
}

// Whether the copy is dropped though it is hot: one on trial, for a miss to show that it is used;
// others have been hidden for that some rounds before, and no thread came for them.
bool Hlrc::is_due(std::uint64_t block) const {
  const BlockEntry& entry = entries_[block];
  std::uint32_t most = most_renewed(entry) + (entry.on_trial ? 0 : kApart);
  return entry.propagation() == Propagation::kAdaptive && entry.renewed >= most;
}

// Whether the block is the last of those that are renewed there, and nobody missed it by itself, so
// that one page would have a message of its own, which perhaps nobody needs.
bool Hlrc::is_left_over(std::uint64_t block, Departure at) const {
  const BlockEntry& entry = entries_[block];
  if (!entry.on_trial || at.number == 0 || reaches(entry.home())) return false;
  if (entry.propagation() != Propagation::kAdaptive) return false;
  auto goes_on = [&](std::uint64_t b) {
    return is_hot(b, at) && entries_[b].home() == entry.home();
  };
  if (block + 1 < config_.blocks && goes_on(block + 1)) return false;
  return block == 0 || !entries_[block - 1].on_trial || !goes_on(block - 1);
}

// Whether the copy, just renewed, has to show that it is used.
bool Hlrc::must_show(std::uint64_t block) const {
  const BlockEntry& entry = entries_[block];
  return entry.propagation() == Propagation::kAdaptive && !entry.on_trial &&
         entry.renewed == most_renewed(entry);
}

// Of a run that was renewed, what has to show that it is used leaves the view, and stays what it
// is: a fault that finds it here shows that, and costs no message. What the zapped entries knew of
// writes the comparison with the twins tells.
Task<bool> Hlrc::hide(Strand& s, BlockRange run) {
  bool looks = scans() && !mutant(Mutant::kHideForgetsWrites);
  for (BlockRange part{run.first, 0}; part.first < run.end(); part = {part.end() + 1, 0}) {
    while (part.end() < run.end() && must_show(part.end())) ++part.count;
    if (part.count == 0) continue;
    mark(Mark::kAcquireHidesCopy);
    co_await s.view(StepKind::kZap, part);
    for (std::uint64_t b = part.first; b < part.end() && looks; ++b)
      co_await push_changes(s, b, true, false);
  }
  co_await await_flush(s);
  co_return true;
}

// Whether it has been renewed as often since, and not been shown to be used.
bool Hlrc::is_hidden(const BlockEntry& entry) const {
  return entry.propagation() == Propagation::kAdaptive && !entry.on_trial &&
         entry.renewed >= most_renewed(entry);
}

// Whether the copy was hidden, which a fault found here. Without the consistency lock, so it
// changes nothing of a copy but what its own lock guards.
bool Hlrc::prove_hidden(std::uint64_t block) {
  BlockEntry& entry = entries_[block];
  if (!is_hidden(entry)) return false;
  mark(Mark::kFaultProvesHidden);
  if (entry.missed < config_.hot_after) gain_foresight(2);
  show_used(entry);
  entry.brought = 1;
  return true;
}

// A fault has shown it of a copy that is renewed: then it is asked ever more seldom to. Locked.
void Hlrc::show_used(BlockEntry& entry) {
  entry.renewed = 0;
  std::uint32_t missed = entry.missed;
  if (missed >= config_.hot_after && missed < config_.hot_after + kMostDoubled)
    entry.missed = static_cast<std::uint8_t>(missed + 1);
}

// The block, and those behind it that were hidden with it: they come back into the view together,
// and are proven together, up to as often as a block comes along without a fault of its own.
// Locked.
Task<BlockRange> Hlrc::lock_hidden(Strand& s, std::uint64_t block) {
  BlockRange run{block, 1};
  while (run.count < config_.max_run && run.end() < config_.blocks) {
    BlockEntry& next = entries_[run.end()];
    co_await s.pause();
    if (!next.try_lock_now()) break;
    bool clean = next.state() == BlockState::kClean || mutant(Mutant::kShowsWhatDied);
    bool hidden = clean && is_hidden(next) && next.home() == entries_[block].home() &&
                  next.brought < kMostBrought;
    if (!hidden) {
      co_await unlock_block(s, run.end(), next.state());
      break;
    }
    mark(Mark::kFaultShowsNeighbour);
    show_used(next);
    ++next.brought;
    ++run.count;
  }
  co_return run;
}

// How many of the run's first blocks are dropped. The hot ones behind one that is due go with it,
// as far as a miss brings them back with it: one by one they would cut what their home promised.
std::uint64_t Hlrc::count_dropped(BlockRange run, Departure at) const {
  std::uint64_t group_end = 0;
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (!is_hot(b, at)) {
      group_end = 0;
    } else if (b >= group_end || entries_[b].home() != entries_[b - 1].home()) {
      bool left_over = is_left_over(b, at);
      if (left_over) mark(Mark::kAcquireDropsLeftOver);
      if (!left_over && !is_due(b)) return b - run.first;
      group_end = left_over ? 0 : b + config_.max_run;
    }
  }
  return run.count;
}

// What dies at an acquire. Copies that are missed time after time are brought up to date where they
// stand, which spares the zap, the fault and, at a departure, the home's attention in the middle of
// its work: it waits in the same barrier. The others are dropped.
Task<bool> Hlrc::renew_or_invalidate(Strand& s, BlockRange run, Departure at) {
  while (run.count > 0) {
    BlockRange part{run.first, count_dropped(run, at)};
    if (part.count > 0) {
      co_await invalidate(s, part, false);
      if (at.number == 0) note_drop(part);
    } else {
      part = co_await hold_hot(s, run, at);
      part = co_await renew(s, part, at);
    }
    run = {part.end(), run.count - part.count};
  }
  co_return true;
}

// Locks the first blocks of the range that are hot, for its first one is not due, all on trial or
// none (where that matters), all or none of them in what their home sends together, and all carried
// by the grant or none; the first one is. So a copy that is missing in between asks for no other
// promises: what two promise travels twice.
Task<BlockRange> Hlrc::hold_hot(Strand& s, BlockRange within, Departure at) {
  BlockRange run{within.first, 0};
  NodeId home = entries_[run.first].home();
  auto tried = [&](std::uint64_t b) {
    return entries_[b].on_trial && entries_[b].propagation() == Propagation::kAdaptive;
  };
  bool on_trial = tried(run.first);
  Brought brought = brought_by(s, run.first, home, at);
  std::uint64_t most = std::min<std::uint64_t>(within.count, config_.max_run);
  if (at.number != 0 && !reaches(home) && !expectations_.empty())
    most = expectations_.alike(home, {within.first, most}, at.number);
  while (run.count < most) {
    std::uint64_t block = run.end();
    if (!is_hot(block, at) || entries_[block].home() != home) break;
    if (tried(block) != on_trial || brought_by(s, block, home, at) != brought) break;
    if (!mutant(Mutant::kRenewUnlocked)) co_await lock_block(s, block);
    ++run.count;
  }
  if (at.number == 0 || reaches(home) || expectations_.empty()) co_return run;
  std::uint64_t whole = expectations_.alike(home, run, at.number);
  co_await unlock_rest(s, run, whole);
  co_return BlockRange{run.first, whole};
}

// All but the first `count` blocks of a run that was locked to be renewed.
Task<bool> Hlrc::unlock_rest(Strand& s, BlockRange run, std::uint64_t count) {
  for (std::uint64_t b = run.first + count; b < run.end(); ++b)
    if (!mutant(Mutant::kRenewUnlocked)) co_await unlock_block(s, b, entries_[b].state());
  co_return true;
}

// As a fetch (fault.cpp), but the copy stays where it is, and its own threads go on reading and
// writing it. Result: the first blocks of the run, which were renewed; the others are as they were.
Task<BlockRange> Hlrc::renew(Strand& s, BlockRange run, Departure at) {
  NodeId home = entries_[run.first].home();
  TERRANE_CHECK(home != kNoNode, "what is renewed is a copy");
  for (std::uint64_t b = run.first; b < run.end(); ++b) leases_.insert(b);
  Brought brought = brought_by(s, run.first, home, at);
  Fetched got{.home = home};
  if (brought == Brought::kHere) got = co_await take_granted(s, run, home, at);
  if (brought == Brought::kNot) got = co_await take_news(s, run, home, at);
  if (at.number != 0 && !reaches(home)) expectations_.use(home, run);
  if (brought == Brought::kGone) co_await give_up(s, home, run);
  if (at.number == 0 && !reaches(home)) note_wanted(s, run, home);
  if (got.count == 0) {
    got = co_await fetch_renewal(s, run, home, at);
    co_await unlock_rest(s, run, got.count);
    run.count = got.count;
    for (std::uint64_t b = run.first; b < run.end() && !got.own && got.home != home; ++b)
      entries_[b].set_home(got.home);
  }
  co_await merge(s, run, got.same);
  settle_leases(run, got.tracked);
  if (got.own) {
    mark(Mark::kAcquireTakesHome);
    co_await become_home(s, run, true);
    for (std::uint64_t b = run.first; b < run.end(); ++b)
      co_await unlock_block(s, b, BlockState::kHome);
    co_return run;
  }
  if (at.number != 0) prove_together(run);
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (!leases_.contains(b)) mark(Mark::kAcquireRenewsTracked);
    if (entries_[b].propagation() == Propagation::kUpdate) mark(Mark::kAcquireUpdates);
    if (at.number == 0) mark(Mark::kLockRenews);
    if (mutant(Mutant::kRenewTrusts)) leases_.erase(b);
    note_news(s, b, b - run.first, got);
    BlockEntry& entry = entries_[b];
    if (at.number != 0) entry.round = static_cast<std::uint16_t>(round() + 1);
    if (entry.missed < config_.hot_after && entry.missed > 0) {
      mark(entry.renewed > 0 ? Mark::kAcquireRenewsForeseen : Mark::kAcquireProvesForeseen);
      if (entry.renewed == 0) entry.missed = config_.hot_after;
    }
    if (entry.renewed < 255) ++entry.renewed;
    recent_.insert(b);
  }
  co_await hide(s, run);
  co_await unlock_rest(s, run, 0);
  co_return run;
}

// The next request for this lock names what its last acquire had to bring; but not a part of it,
// since the rest has to be fetched all the same.
void Hlrc::note_wanted(Strand& s, BlockRange run, NodeId home) {
  for (std::uint64_t b = run.first; b < run.end() && s.wanted.size() <= wire::kMostWanted; ++b)
    s.wanted.push_back({.block = b, .home = home.value});
}

Task<Hlrc::Fetched> Hlrc::fetch_renewal(Strand& s, BlockRange run, NodeId home, Departure at) {
  mark(reaches(home) ? Mark::kAcquireRenews : Mark::kAcquireRenewsByMessage);
  const BlockEntry& first = entries_[run.first];
  bool stays = !first.on_trial || first.propagation() == Propagation::kUpdate;
  bool again = at.number != 0 && stays && !expectations_.covers(home, run, at.number + 1);
  Fetched got = co_await fetch(s, run, home, true, again ? run.count : 0);
  if (got.promised != 0)
    expectations_.note(got.home, {run.first, got.count},
                       static_cast<std::uint32_t>(got.promised - 1));
  co_return got;
}

// What lies aside -> our blocks. Where our threads may have written since the last release the twin
// tells what is news; it takes the news too, so that it is not taken for ours.
Task<bool> Hlrc::merge(Strand& s, BlockRange run, std::uint64_t same) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (same >> (b - run.first) & 1) continue;
    bool twinned = scans() || entries_[b].state() == BlockState::kWritten;
    if (twinned) mark(Mark::kAcquireRenewsMerging);
    if (mutant(Mutant::kRenewOverwrites)) twinned = false;
    co_await s.perform(
        {.kind = StepKind::kMerge, .flag = twinned, .blocks = {b, 1}, .value = b - run.first});
  }
  co_return true;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
