#include <algorithm>
#include <array>

#include "protocol/hlrc/hlrc.h"
#include "protocol/serve/served.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Hlrc::Hlrc(const HlrcConfig& config, const BlockMemory& memory, Core& core, Predictor& predictor)
    : BlockLocks(memory.entries),
      config_(config),
      core_(core),
      predictor_(predictor),
      reached_(memory.reached),
      cached_(memory.sets[0], config.blocks),
      open_(memory.sets[9], config.blocks),
      leases_(memory.sets[1], config.blocks),
      tracked_(memory.sets[2], config.blocks),
      written_(memory.sets[3], config.blocks),
      recent_(memory.sets[4], config.blocks),
      idle_(memory.sets[5], config.blocks),
      leaving_(memory.sets[6], config.blocks),
      spare_(memory.sets[7], config.blocks),
      used_(memory.used),
      most_notices_(config.tunables.most_notices),
      promises_(config.tunables.promised != 0, config.nodes),
      server_({.self = config.self,
               .entries = memory.entries,
               .nodes = config.nodes,
               .blocks = config.blocks,
               .block_bytes = config.block_bytes,
               .push_arity = config.push_arity,
               .most_sent = config.most_sent,
               .sent_whole = config.sent_whole},
              promises_) {
  notices_.reserve(4096);
  meets_ = config.meets && config.nodes > 1 && config.nodes <= CentralBarrier::kMostNodes;
  for (std::uint32_t node = 0; node < config.nodes; ++node)
    meets_ = meets_ && reaches(NodeId{node});
  // A run and its twins, unless that is much of what there is.
  if (config.limit != ~0ull)
    low_ = std::min<std::uint64_t>(2 * most_of_run(), std::max<std::uint64_t>(2, config.limit / 8));
}

void Hlrc::add_cached(std::uint64_t block) {
  if (!cached_.insert(block)) cached_count_.fetch_add(1, std::memory_order_seq_cst);
  if (!mutant(Mutant::kMissKeepsSerial)) entries_[block].news = 0;
  recent_.insert(block);
  remove_idle(block);
  spare_.erase(block);
}

void Hlrc::remove_cached(std::uint64_t block) {
  if (!cached_.contains(block)) return;
  cached_.erase(block);
  recent_.erase(block);
  close(block);
  cached_count_.fetch_sub(1, std::memory_order_relaxed);
}

Task<FaultResult> Hlrc::fault(Strand& s, BlockId id, Access wanted) {
  std::uint64_t block = id.value;
  if (is_short()) co_await make_room(s);
  co_await lock_block(s, block);
  FaultResult result = FaultResult::kDone;
  BlockState state = entries_[block].state();
  if (state == BlockState::kInvalid) {
    MissUnderWay under_way;
    result = co_await fault_invalid(s, block, wanted, under_way);
    if (result == FaultResult::kDone) co_await bring_before(s, block, under_way);
    co_return result;
  }
  // Somebody made the block present meanwhile, it was hidden, or the kernel took an entry away:
  // mapping it again does no harm.
  std::uint64_t shown = 1;
  if (state != BlockState::kHome && is_adaptive(block)) shown = predictor_.shown(block);
  BlockRange run{block, 1};
  if (state == BlockState::kHome) {
    result = co_await fault_at_home(s, block, wanted);
  } else if (state == BlockState::kClean && !scans() && enters_free(wanted)) {
    co_await first_write(s, block);
    state = BlockState::kWritten;
  } else {
    mark(Mark::kFaultFindsBlockPresent);
    if (state == BlockState::kClean) run = co_await lock_shown(s, {block, shown});
    co_await s.perform(Map{run, state == BlockState::kWritten ? Access::kWrite : Access::kRead});
  }
  for (std::uint64_t b = block; b < run.end(); ++b) co_await unlock_block(s, b, state);
  co_return result;
}

Task<FaultResult> Hlrc::fault_invalid(Strand& s, std::uint64_t block, Access wanted,
                                      MissUnderWay& under_way) {
  FaultResult result = FaultResult::kDone;
  BlockState state = BlockState::kInvalid;
  std::uint64_t home = entries_[block].home().value;
  if (entries_[block].home() == kNoNode)
    home = co_await find_home(s, block, wanted, under_way.same_owner);
  bool here = home == config_.self.value;
  if (here && config_.migrate) here = co_await still_here(s, block);
  if (home == kHomeNowhere) {
    mark(Mark::kFaultOutsideRegions);
    result = FaultResult::kForeign;
  } else if (here) {
    result = co_await fault_at_home(s, block, wanted);
    if (result == FaultResult::kDone) state = BlockState::kHome;
  } else {
    NodeId from = home == kHomeFirstTouch ? kNoNode : NodeId{static_cast<std::uint32_t>(home)};
    result = co_await fault_elsewhere(s, block, wanted, from, 0, under_way);
    co_return result;
  }
  co_await unlock_block(s, block, state);
  co_return result;
}

// The home is another node, nobody's yet (kNoNode), or has gone from here: a copy is made, of
// and of further blocks, as the predictor says. unmissed: 0, or how many are prefetched though no
// thread has missed one.
Task<FaultResult> Hlrc::fault_elsewhere(Strand& s, std::uint64_t block, Access wanted, NodeId home,
                                        std::uint64_t unmissed, MissUnderWay& under_way) {
  BlockRange run{block, 1};
  BlockState state = co_await fault_copy(s, run, wanted, home, unmissed, under_way);
  if (state == BlockState::kInvalid) {  // a later claim must not find the block among the copies
    mark(Mark::kFaultGivesUp);
    if (!mutant(Mutant::kKeepFailedFetch)) {
      leases_.erase(block);
      remove_cached(block);
    }
    co_await unlock_block(s, block, BlockState::kInvalid);
    co_return FaultResult::kNoMemory;
  }
  co_await unlock_block(s, block, state);
  if (state == BlockState::kWritten) state = BlockState::kClean;  // who came along was not written
  for (std::uint64_t b = block + 1; b < run.end(); ++b) co_await unlock_block(s, b, state);
  if (under_way.ahead.count > 0) co_await finish_ahead(s, under_way.ahead);
  co_return FaultResult::kDone;
}

// The block's home: by the region's policy, or the first node that wrote it. kHomeFirstTouch:
// nobody has, and a read claims nothing. same_owner: blocks that the directory named with it.
Task<std::uint64_t> Hlrc::find_home(Strand& s, std::uint64_t block, Access wanted,
                                    BlockRange& same_owner) {
  Event find = RegionFind{BlockId{block}, s.waiter()};
  std::uint64_t told = co_await s.call(find);
  std::uint64_t home = home_found(told);
  if (home == kHomeNowhere) co_return home;
  entries_[block].set_policy(protocol_found(told), propagation_found(told));
  if (entries_[block].eager()) eager_seen_.store(true, std::memory_order_relaxed);
  if (home == kHomeFirstTouch) {
    bool claims = wanted == Access::kWrite;
    std::uint32_t mine = config_.self.value + 1;
    Owner named = co_await ask_owner(s, block, claims ? mine : 0);
    same_owner = {block, named.same};
    std::uint32_t owner = named.entry;
    if (owner == 0) {
      mark(Mark::kFaultReadsUnclaimed);
      co_return home;
    }
    if (claims) mark(owner == mine ? Mark::kFaultClaimsHome : Mark::kFaultLosesClaim);
    home = std::uint64_t{owner} - 1;
    entries_[block].set_home(NodeId{static_cast<std::uint32_t>(home)}, true);
    if (claims && owner == mine) co_await claim_next(s, block);
    co_return home;
  }
  entries_[block].set_home(NodeId{static_cast<std::uint32_t>(home)});
  co_return home;
}

// What the directory says of the block's owner, and so of those behind it: an owner stays until the
// region is freed.
// claim: nobody's block becomes this owner's, unless it is 0.
Task<Owner> Hlrc::ask_owner(Strand& s, std::uint64_t block, std::uint32_t claim) {
  NodeId node = directory(block);
  if (claim == 0) co_return co_await s.perform(LoadOwner{node, BlockId{block}});
  co_return co_await s.perform(ClaimOwner{node, {block, 1}, claim});
}

// The home's bytes, into our blocks or aside; by the home's words the copies stay leases or not
// (aside: got.tracked tells, and they are leases until merged), and may be offered to this node,
// which takes them by that. Only the first blocks, as far as they
// are alike in this, and where the home has moved the first alone, from where it went.
// again: so many of the first blocks are wanted at coming departures as well.
Task<Hlrc::Fetched> Hlrc::fetch(Strand& s, BlockRange run, NodeId home, bool aside,
                                std::uint64_t again) {
  Fetched got{.home = home};
  bool follows = false;
  while (got.count < run.count) {
    std::uint64_t block = run.first + got.count;
    NodeId next = got.home;
    if (!reaches(got.home)) {
      FetchWish wish{.follows = follows,
                     .may_take = may_take(),
                     .again = static_cast<std::uint32_t>(std::min(again, run.count))};
      Fetched there = co_await fetch_by_message(s, run, got.home, aside, wish);
      if (there.count > 0) co_return there;
      next = there.home;
      run.count = there.alike;
    } else {
      std::uint32_t word = co_await s.perform(LoadWord{got.home, BlockId{block}});
      bool here = !(word & kComing) && (!follows || word & (kHere | kMoved));
      if (!here && !mutant(Mutant::kReadTooEarly)) {
        mark(Mark::kFaultWaitsForMove);
      } else if (word & kMoved && !mutant(Mutant::kReadFormerHome)) {
        if (got.count > 0) break;
        mark(Mark::kFaultFollowsHome);
        next = home_in(word);
        run.count = co_await moved_together(s, run, got.home, next);
      } else {
        bool ours = is_armed_for_us(word);
        if (got.count > 0 && ours != got.own) break;
        got.own = ours;
        std::uint32_t more = follows ? kHere : 0;
        std::uint64_t good =
            co_await copy_some(s, {block, run.count - got.count}, got, word, more, aside);
        got.count += good;
        continue;
      }
    }
    follows = next != got.home;
    if (!follows && got.count > 0) {  // what is just moving does not come along
      if (mutant(Mutant::kForgetsWhereFrom)) got.home = home;
      break;
    }
    if (!follows) {
      // It is just moving. Where it was sent here from is asked again: that may be over, too.
      run.count = 1;
      bool freed = co_await is_freed(s, run.first);
      if (freed) co_return Fetched{.home = home, .count = 1};
      co_await s.yield();
    }
    got.home = follows ? next : home;
  }
  co_return got;
}

// Whether the block's region is being freed. Some nodes have forgotten it then, where its home went
// to, perhaps, and others have not, because a thread that applies a departure has to end first: as
// ours may be, who waits for a word that nobody will store. What the block's bytes are matters no
// more.
Task<bool> Hlrc::is_freed(Strand& s, std::uint64_t block) {
  if (mutant(Mutant::kFollowsFreed)) co_return false;
  std::vector<std::byte> notices;  // of the acquire that is being applied
  notices.swap(s.inbox);
  Event ask = RegionExtent{BlockId{block}, s.waiter()};
  std::uint64_t extent = co_await s.call(ask);
  s.inbox.swap(notices);
  if (extent == 0) mark(Mark::kFindsRegionFreed);
  co_return extent == 0;
}

// The first of the run, as far as the words say that they are all at `next` now.
Task<std::uint64_t> Hlrc::moved_together(Strand& s, BlockRange run, NodeId home, NodeId next) {
  std::uint64_t count = 1;
  for (; count < run.count; ++count) {
    std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{run.first + count}});
    if (!moved_to(word, next)) break;
  }
  co_return count;
}

// Of a home in reach: the first of the run, whose word is known, and those behind it whose words
// allow it, too, and have the bits `must`, are copied at once. Result: how many are good, as
// got.own says; what follows is to be tried again, where it is by now.
Task<std::uint64_t> Hlrc::copy_some(Strand& s, BlockRange run, Fetched& got, std::uint32_t word,
                                    std::uint32_t must, bool aside) {
  std::array<std::uint32_t, kMaxRun> words{};
  BlockRange some{run.first, 0};
  while (some.count < std::min<std::uint64_t>(run.count, kMaxRun)) {
    if (some.count > 0) {
      word = co_await s.perform(LoadWord{got.home, BlockId{some.end()}});
      bool alike = !(word & (kComing | kMoved)) && (word & must) == must;
      if (!alike || is_armed_for_us(word) != got.own) break;
    }
    if (got.own) {
      bool taken = co_await take(s, some.end(), got.home, word);
      if (!taken) break;
    }
    co_await want(s, some.end(), got.home, word, aside);
    words[some.count++] = word;
  }
  if (some.count == 0) co_return 0;
  std::optional<std::uint64_t> slot;
  if (aside) slot = got.count;
  co_await s.perform(CopyHome{got.home, some, slot});
  std::uint64_t good = 0;
  for (; good < some.count; ++good) {
    std::uint64_t block = some.first + good;
    bool same = got.own;
    if (!same) same = co_await stayed(s, block, got.home, words[good]);
    if (!same) break;
    if (aside && words[good] & kTracked) got.tracked |= 1ull << (got.count + good);
  }
  if (some.count > 1) mark(good == some.count ? Mark::kFaultCopiesRun : Mark::kFaultCopiesPart);
  for (std::uint64_t b = some.first + good; b < some.end(); ++b) leases_.insert(b);
  co_return good;
}

// Before the home's bytes are copied.
Task<> Hlrc::want(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word, bool aside) {
  if (word & kTracked) {
    mark(Mark::kFaultFetchesTracked);
    if (!aside || mutant(Mutant::kRenewSettlesEarly)) leases_.erase(block);
  } else {
    mark(Mark::kFaultFetchesLease);
    bool was = co_await s.perform(SetWanted{home, BlockId{block}});
    if (was) mark(Mark::kFaultFindsWantedSet);
  }
}

// What a miss brings. The predictor may subscribe to the first blocks at once, which spares the
// question at the next barrier exit.
Task<Hlrc::Fetched> Hlrc::fetch_missed(Strand& s, BlockRange run, NodeId home) {
  SubscriptionPlan plan;
  BlockRange adaptive{run.first, 0};
  while (adaptive.count < run.count && is_adaptive(adaptive.end())) ++adaptive.count;
  bool may = config_.tunables.promised != 0 && !reaches(home) && adaptive.count > 0;
  if (may) plan = predictor_.subscribe(adaptive);
  std::uint64_t again = std::min(plan.blocks, adaptive.count);
  std::optional<std::size_t> place;
  if (again > 0) place = misses_promises_.reserve();
  Fetched got = co_await fetch(s, run, home, false, place ? again : 0);
  if (place && got.promised == 0) misses_promises_.release(*place);
  if (!place || got.promised == 0) co_return got;
  mark(Mark::kFaultIsPromised);
  misses_promises_.fill(*place, {.home = got.home,
                                 .run = {run.first, std::min(got.count, again)},
                                 .after = static_cast<std::uint32_t>(got.promised - 1),
                                 .predicted = plan.predicted});
  co_return got;
}

// The home does for us, in the same order, what we would do in its memory. Where nothing came
// `home` is the node to ask, perhaps the same again.
Task<Hlrc::Fetched> Hlrc::fetch_by_message(Strand& s, BlockRange run, NodeId home, bool aside,
                                           FetchWish wish) {
  FetchResult answer = co_await s.perform(Fetch{home, run, wish, aside});
  Fetched got{.home = home, .count = answer.count};
  if (got.count == 0) {
    got.home = answer.ask;
    got.alike = answer.same;
    mark(got.home != home ? Mark::kFaultSentElsewhere : Mark::kFaultAsksAgain);
    co_return got;
  }
  got.own = answer.own;
  if (got.own) mark(Mark::kFaultTakesHomeByMessage);
  got.promised = answer.promised;
  got.tracked = answer.tracked;
  mark(got.tracked != 0 ? Mark::kFaultFetchesTrackedByMessage : Mark::kFaultFetchesLeaseByMessage);
  bool early = mutant(Mutant::kRenewSettlesEarly);
  if (!aside || early) settle_leases({run.first, got.count}, got.tracked);
  co_return got;
}

// The copies are there for all to see: those that the home tracks are leases no more.
void Hlrc::settle_leases(BlockRange run, std::uint64_t tracked) {
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (tracked >> (b - run.first) & 1) leases_.erase(b);
}

// Asked again now that an acquire would find the copy: since the first look somebody may have
// claimed the block, written it and released.
Task<NodeId> Hlrc::still_unclaimed(Strand& s, std::uint64_t block, BlockRange& same_owner) {
  Owner owner = co_await ask_owner(s, block);
  same_owner = {block, owner.same};
  if (owner.entry == 0) co_return kNoNode;
  mark(Mark::kFaultSeesClaimLate);
  NodeId home{owner.entry - 1};
  TERRANE_CHECK(home != config_.self, "this node claims a block only under its lock");
  entries_[block].set_home(home);
  co_return home;
}

// The home's own block: present and writable, or protected while readers rely on notices.
Task<FaultResult> Hlrc::fault_at_home(Strand& s, std::uint64_t block, Access wanted) {
  BlockRange one{block, 1};
  bool backed = co_await s.perform(Populate{one});
  if (!backed) co_return FaultResult::kNoMemory;
  if (!tracked_.contains(block)) {
    mark(Mark::kFaultAtHome);
    co_await s.perform(Map{one, Access::kWrite});
    if (!scans() && wanted == Access::kWrite) co_await s.perform(Unprotect{one});
    co_return FaultResult::kDone;
  }
  mark(Mark::kFaultAtTrackedHome);
  if (!scans() && enters_free(wanted)) {
    mark(Mark::kFaultAtHomeForWriting);
    written_.insert(block);
    co_await s.perform(Map{one, Access::kWrite});
    co_await s.perform(Unprotect{one});
  } else {
    co_await s.perform(Map{one, Access::kRead});
  }
  co_return FaultResult::kDone;
}

// A copy of another node's block; home kNoNode: nobody wrote it yet, it reads as zeros. The copy is
// entered in the sets before the home's word is loaded: an acquire that comes in between then waits
// for it and drops it. `run` grows by the neighbours that come along.
// Result: what the blocks are now; kInvalid when memory is short.
Task<BlockState> Hlrc::fault_copy(Strand& s, BlockRange& run, Access wanted, NodeId home,
                                  std::uint64_t unmissed, MissUnderWay& under_way) {
  std::uint64_t block = run.first;
  co_await s.pause();
  bool late = mutant(Mutant::kLateCachedMark);
  if (!late) {
    leases_.insert(block);
    add_cached(block);
  }
  co_await s.pause();
  if (home == kNoNode && !mutant(Mutant::kLookOnceForClaim))
    home = co_await still_unclaimed(s, block, under_way.same_owner);
  bool backed = co_await s.perform(Populate{run});
  if (!backed) co_return BlockState::kInvalid;
  if (home != kNoNode) {
    bool ordinary = unmissed == 0;
    Miss miss = miss_of(block, wanted, home);
    miss.prefetches = config_.enters_protected && !late;
    MissPlan plan{.blocks = unmissed, .fresh = true};
    if (ordinary) plan = predictor_.at_miss(miss);
    if (plan.homes > 0 && miss.movable) co_await ask_offers(s, miss, home, plan.homes);
    std::uint64_t extent = 0;
    if (miss.prefetches) extent = co_await extend_run(s, run, home, plan, under_way);
    if (ordinary && extent > 0) co_await ask_ahead(s, run, home, extent, miss, under_way);
    Fetched got = co_await fetch_missed(s, run, home);
    co_await leave_out(s, {run.first + got.count, run.count - got.count});
    run.count = got.count;
    if (ordinary) predictor_.miss_ended(block, run.count == extent ? 0 : run.end());
    under_way.ahead.miss_end = run.end();
    if (got.own) {
      co_await enter_homes(s, run, access_of_homes(miss));
      co_return BlockState::kHome;
    }
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      if (entries_[b].home() != got.home) entries_[b].set_home(got.home);
      predictor_.missed(b);
    }
  }
  if (late) {
    co_await s.pause();
    leases_.insert(block);
    add_cached(block);
  }
  bool free = enters_free(wanted);
  std::uint64_t twins = scans() ? run.count : free ? 1 : 0;
  for (std::uint64_t b = block; b < block + twins; ++b) {
    if (mutant(Mutant::kTwinFromHome) && home != kNoNode) {
      co_await s.perform(CopyTwin{BlockId{b}, home});
    } else {
      co_await s.perform(CopyTwin{BlockId{b}});
    }
  }
  co_await enter_copies(s, run, wanted);
  co_return !scans() && enters_free(wanted) ? BlockState::kWritten : BlockState::kClean;
}

// What the predictor is told of a miss; `prefetches` is the caller's to set.
Miss Hlrc::miss_of(std::uint64_t block, Access wanted, NodeId home) const {
  return {.block = block,
          .access = wanted,
          .reached = reaches(home),
          .adaptive = is_adaptive(block),
          .much_room = config_.limit == ~0ull || room() > config_.limit / 2,
          .movable = entries_[block].movable() && home != config_.self && may_take(),
          .prefetches = false};
}

// As what homes enter that come with the miss.
Access Hlrc::access_of_homes(const Miss& miss) const {
  bool writes = miss.access == Access::kWrite || predictor_.expects_writes(miss);
  return writes ? Access::kWrite : Access::kRead;
}

// Blocks that became ours enter as at any home (fault_at_home), then others may come for them.
Task<> Hlrc::enter_homes(Strand& s, BlockRange run, Access wanted) {
  mark(Mark::kFaultTakesHome);
  // What is about to be written need not be tracked for that: its notice is given in any case. Nor
  // need what was asked for, which most likely will be.
  bool tracks = !scans() || wanted == Access::kRead;
  bool free = enters_free(wanted) || !tracks_taken(run.first);
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    if (free && tracks_taken(b)) written_.insert(b);
  }
  co_await s.perform(Map{run, free ? Access::kWrite : Access::kRead});
  co_await become_home(s, run, tracks);
  taken_.fetch_add(1, std::memory_order_release);
}

// What comes along enters protected.
Task<> Hlrc::enter_copies(Strand& s, BlockRange run, Access wanted) {
  if (enters_free(wanted)) {
    mark(Mark::kFaultFetchesForWriting);
    if (!scans()) written_.insert(run.first);  // a scan finds what was never protected by itself
    co_await s.perform(Map{{run.first, 1}, Access::kWrite});
    run = {run.first + 1, run.count - 1};
  }
  if (run.count > 0) co_await s.perform(Map{run, Access::kRead});
}

// Write detection by fault: the twin is made while the block is still protected.
Task<> Hlrc::first_write(Strand& s, std::uint64_t block) {
  mark(Mark::kFaultFirstWriteTwins);
  co_await s.perform(CopyTwin{BlockId{block}});
  written_.insert(block);
  co_await s.perform(Map{{block, 1}, Access::kWrite});
  co_await s.perform(Unprotect{{block, 1}});
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
