#include <algorithm>

#include "protocol/hlrc/hlrc.h"

// Homes follow their writers. At a departure that says that one other node alone wrote a block, its
// home offers it to that node, which takes it when it comes for the block again. Neither waits for
// the other: an offer is a bit of the home's word, taking it is one compare-and-swap, and whoever
// comes first in between (the home's own threads, another node's flush) ends the offer by one, too.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
// ---- the home's side: under the consistency lock, at a departure (its notices are in s.inbox)

Task<> Hlrc::offer_homes(Strand& s) {
  find_sole_writers(s.inbox);
  std::size_t fresh = offers_.size();
  if (!deferred_.empty()) mark(Mark::kDepartureOffersLate);
  offers_.insert(offers_.end(), deferred_.begin(), deferred_.end());
  deferred_.clear();
  if (offers_.empty()) co_return;
  for (std::size_t i = 0; i < offers_.size(); ++i) co_await offer(s, offers_[i], i < fresh);
  co_await arm_offers(s);
  if (!deferred_.empty()) others_wrote_.store(true, std::memory_order_relaxed);  // one more is due
}

// Our movable blocks that one node alone gave notice of, and not we -> offers_.
void Hlrc::find_sole_writers(Bytes notices) {
  writers_.clear();
  writers_.swap(eager_writers_);
  offers_.clear();
  bool others = others_wrote_.exchange(false, std::memory_order_relaxed);
  wire::NoticeReader reader(notices);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry)) {
    while (reader.next_record(record)) {
      while (reader.next_range(range)) {
        std::size_t before = writers_.size();
        note_writer(range, NodeId{entry.node});
        others = others || (entry.node != config_.self.value && writers_.size() > before);
      }
    }
  }
  if (!others) return;
  // A sweep along the blocks: how many nodes' runs cover the place, and the sum of their numbers,
  // which is the node where it is one. A node's own runs do not overlap once they are merged.
  auto by_node = [](const Written& a, const Written& b) {
    return a.by.value != b.by.value ? a.by.value < b.by.value : a.run.first < b.run.first;
  };
  std::sort(writers_.begin(), writers_.end(), by_node);
  struct Edge {
    std::uint64_t at;
    std::int64_t nodes;  // +1 or -1
    std::int64_t sum;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < writers_.size();) {
    Written whole = writers_[i];
    for (++i; i < writers_.size() && writers_[i].by == whole.by &&
              writers_[i].run.first <= whole.run.end();
         ++i) {
      whole.run.count = std::max(whole.run.end(), writers_[i].run.end()) - whole.run.first;
    }
    edges.push_back({whole.run.first, 1, whole.by.value});
    edges.push_back({whole.run.end(), -1, -static_cast<std::int64_t>(whole.by.value)});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::int64_t nodes = 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    nodes += edges[i].nodes;
    sum += edges[i].sum;
    std::uint64_t end = i + 1 < edges.size() ? edges[i + 1].at : edges[i].at;
    bool sole = nodes == 1 && sum != config_.self.value && end > edges[i].at;
    if (sole)
      offers_.push_back(
          {{edges[i].at, end - edges[i].at}, NodeId{static_cast<std::uint32_t>(sum)}});
  }
}

void Hlrc::note_writer(BlockRange range, NodeId writer) {
  for (std::uint64_t b = range.first; b < range.end(); ++b) {
    if (entries_[b].home() != config_.self || !entries_[b].movable()) continue;
    if (!writers_.empty() && writers_.back().by == writer && writers_.back().run.end() == b) {
      ++writers_.back().run.count;
    } else {
      writers_.push_back({{b, 1}, writer});
    }
  }
}

// Programs without barriers tell of writers for ever: then the first ones have to do.
void Hlrc::note_eager_writer(BlockRange range, NodeId writer) {
  if (!config_.migrate || eager_writers_.size() >= kMostEagerWriters) return;
  writers_.swap(eager_writers_);
  std::size_t before = writers_.size();
  note_writer(range, writer);
  bool other = writer != config_.self && writers_.size() > before;
  if (other) others_wrote_.store(true, std::memory_order_relaxed);
  writers_.swap(eager_writers_);
}

// What is known of who wrote these blocks is of a region that is freed.
void Hlrc::forget_writers(BlockRange range) {
  auto is_in = [range](const Written& written) {
    return written.run.first < range.end() && range.first < written.run.end();
  };
  std::erase_if(eager_writers_, is_in);
  std::erase_if(deferred_, is_in);
}

// fresh: of this departure.
Task<> Hlrc::offer(Strand& s, Written written, bool fresh) {
  auto [run, to] = written;
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await lock_block(s, b);
  for (std::uint64_t b = run.first; b < run.end();) {
    BlockRange part{b, 0};
    while (part.end() < run.end()) {
      bool may = predictor_.offers(part.end(), to);
      if (may) may = co_await can_offer(s, part.end(), to);
      if (may && fresh && predictor_.defers(part.end())) {
        co_await defer(s, part.end(), to);
        may = false;
      }
      if (!may) break;
      ++part.count;
    }
    if (part.count > 0) {
      co_await offer_part(s, part, to);
      b = part.end();
    } else {
      co_await unlock_block(s, b, entries_[b].state());
      ++b;
    }
  }
}

// The block, whose lock is held, is offered at the next departure.
Task<> Hlrc::defer(Strand& s, std::uint64_t block, NodeId to) {
  bool goes_on = !deferred_.empty() && deferred_.back().by == to;
  if (goes_on && deferred_.back().run.end() == block + 1) co_return;  // looked at once more
  mark(Mark::kDepartureDefersOffer);
  if (goes_on && deferred_.back().run.end() == block) {
    ++deferred_.back().run.count;
  } else {
    deferred_.push_back({{block, 1}, to});
  }
  // One on another host has to be told by then that it should come.
  bool far = !reaches(to) && entries_[block].state() == BlockState::kHome;
  if (far && tracked_.contains(block)) co_await untrack(s, block);
}

// A home that is here, and is not on offer, or to another than `to`: that one asked for more than
// it came for, and would keep it from who does use it.
Task<bool> Hlrc::can_offer(Strand& s, std::uint64_t block, NodeId to) {
  const BlockEntry& entry = entries_[block];
  bool copy = entry.state() == BlockState::kClean || entry.state() == BlockState::kWritten;
  if (copy || entry.home() != config_.self || !entry.movable()) co_return false;
  std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{block}});
  if (word & kMoved) co_return false;
  if (!(word & kOffered)) co_return true;
  if (home_in(word) == to) co_return false;
  mark(Mark::kDepartureMovesOffer);
  if (mutant(Mutant::kMovesTakenOffer)) co_return true;
  bool ended = co_await swap_word(s, config_.self, block, word, word & kStays);
  co_return ended;
}

// The home's own threads see the blocks no more: what they would write is written behind a fault,
// which ends the offer.
Task<> Hlrc::offer_part(Strand& s, BlockRange run, NodeId to) {
  mark(entries_[run.first].eager() ? Mark::kDepartureOffersEager : Mark::kDepartureOffersHome);
  if (!mutant(Mutant::kOfferMapped)) co_await s.perform(Zap{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool tracked = tracked_.contains(b) && entries_[b].state() == BlockState::kHome;
    bool written = written_.contains(b) || (tracked && scans());
    // What was written since the last release can be found no more. And a copy on another host that
    // relies on notices would never come for the block.
    bool far = tracked && !reaches(to);
    if (far) mark(Mark::kDepartureGivesNotice);
    if (written) mark(Mark::kDepartureOffersWritten);
    if (far || (written && !mutant(Mutant::kOfferForgetsWrites))) notice(b);
    written_.erase(b);
    leaving_.insert(b);
    std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{b}});
    std::uint32_t offered = (word & kStays) | kOffered | word_for(to);
    if (mutant(Mutant::kOfferDespiteFlush)) offered |= kArmed;
    co_await s.perform(StoreWord{BlockId{b}, offered});
    co_await unlock_block(s, b, BlockState::kInvalid);
  }
}

// Whoever began to store at a home before he could see its offer may still be at it: then it is
// ended at once. The one node that may take a block stores under the lock that it takes it under.
Task<> Hlrc::arm_offers(Strand& s) {
  std::uint32_t storing = 0;
  NodeId last = kNoNode;
  for (std::uint32_t n = 0; n < config_.nodes; ++n) {
    // Those that do not reach us have what they send stored by us.
    bool here = n == config_.self.value;
    if (!reaches(NodeId{n}) || (here && mutant(Mutant::kApplyUncounted))) continue;
    std::uint32_t threads = co_await s.perform(LoadFlushing{NodeId{n}});
    if (threads == 0) continue;
    ++storing;
    last = NodeId{n};
  }
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    auto [run, to] = offers_[i];
    bool free = storing == 0 || (storing == 1 && last == to);
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{b}});
      if ((word & ~kStays) != (kOffered | word_for(to))) continue;
      if (!free) mark(Mark::kDepartureEndsOffer);
      co_await swap_word(s, config_.self, b, word, free ? word | kArmed : word & kStays);
    }
  }
}

// A thread of the home needs the block, whose lock is held: an offer of it is ended. False: the
// home has gone.
Task<bool> Hlrc::still_here(Strand& s, std::uint64_t block) {
  while (true) {
    std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{block}});
    if (word & kMoved) {
      mark(Mark::kFaultFindsHomeGone);
      tracked_.erase(block);
      predictor_.home_gone(block);
      co_return false;
    }
    if (!(word & kOffered)) co_return true;
    bool ended = co_await swap_word(s, config_.self, block, word, word & kStays);
    if (!ended) continue;
    mark(Mark::kFaultEndsOffer);
    predictor_.offer_ended(block);
    co_return true;
  }
}

// What was written first by this node, and is written or read in order by another, most likely is
// the latter's: a master has filled it for that node, which asks before anything has to be flushed.
Task<std::uint64_t> Hlrc::offer_asked(Strand& s, Offer asked) {
  co_await s.pause();
  std::uint32_t free = 0;
  if (!consistency_.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
    mark(Mark::kAskedWhileReleasing);
    co_return 0;
  }
  auto [to, waiter, run, reads] = asked;
  offers_.clear();
  std::uint64_t count = 0;
  for (std::uint64_t b = run.first; b < run.end();) {
    BlockRange part{b, 0};
    while (part.end() < run.end()) {
      bool may = co_await may_offer_asked(s, part.end(), to, reads);
      if (!may) break;
      ++part.count;
    }
    b = part.end() + 1;
    if (part.count == 0) continue;
    mark(Mark::kAskedAndOffers);
    for (std::uint64_t i = part.first; i < part.end(); ++i) predictor_.gave(i, reads);
    co_await offer_part(s, part, to);
    offers_.push_back({part, to});
    count += part.count;
  }
  co_await arm_offers(s);
  co_await leave(s);
  co_return count;
}

// Locks the block, if it may be offered.
Task<bool> Hlrc::may_offer_asked(Strand& s, std::uint64_t block, NodeId to, bool reads) {
  co_await s.pause();
  if (!entries_[block].try_lock_now()) co_return false;
  bool may = co_await can_offer(s, block, to);
  if (may) {
    std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{block}});
    may = predictor_.gives(block, reads, (word & kTimes) != 0);
  }
  if (!may) co_await unlock_block(s, block, entries_[block].state());
  co_return may;
}

// ---- the others' side

// A miss: the home is asked to offer the missed block and those behind it, `most` in all, where it
// has not moved already.
Task<bool> Hlrc::ask_offers(Strand& s, const Miss& miss, NodeId home, std::uint64_t most) {
  std::uint64_t block = miss.block;
  Event find = RegionExtent{BlockId{block}, s.waiter()};
  std::uint64_t extent = co_await s.call(find);
  BlockRange run{block, std::min({extent, most, end() - block})};
  if (run.count == 0) co_return false;
  bool reads = miss.access == Access::kRead;
  mark(reads ? Mark::kFaultAsksForHomesToRead : Mark::kFaultAsksForHomes);
  Event ask = AskOffer{home, run, reads, s.waiter()};
  std::uint64_t offered = co_await s.call(ask);
  predictor_.homes_asked(miss, run.end(), offered);
  co_return true;
}

// Before a difference is stored at a home, by one who is counted as storing: the home is looked for
// where it went, and an offer to another node ended, who would take bytes that lack ours.
// One that is not reached settles it itself, where a message comes by the word of `via`. kNoNode:
// the block's region is being freed.
Task<NodeId> Hlrc::settle(Strand& s, std::uint64_t block, NodeId home, NodeId& via) {
  NodeId first = home;
  while (reaches(home)) {
    std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
    bool here = !(word & kComing) && (via == kNoNode || word & (kHere | kMoved));
    if (!here) {
      mark(Mark::kFlushWaitsForMove);
      bool freed = co_await is_freed(s, block);
      if (freed) co_return kNoNode;
      co_await s.yield();
      home = first;
      via = kNoNode;
    } else if (word & kMoved && !mutant(Mutant::kFlushFormerHome)) {
      mark(Mark::kFlushFollowsHome);
      via = home;
      home = home_in(word);
    } else if (word & kOffered && home_in(word) != config_.self &&
               !mutant(Mutant::kFlushKeepsOffer)) {
      mark(Mark::kFlushEndsOffer);
      co_await swap_word(s, home, block, word, word & kStays);
    } else {
      break;
    }
  }
  // One that is not reached may not have its bytes yet, and could not tell: who comes to it again
  // has to come by the word of the former one, and say so.
  bool known = reaches(home) || mutant(Mutant::kSettleUnconfirmed);
  if (known && entries_[block].home() != home) entries_[block].set_home(home);
  co_return home;
}

// A copy that this node has changed, and whose home is offered to it: nothing has to be stored
// there.
Task<bool> Hlrc::take_at_flush(Strand& s, std::uint64_t block) {
  NodeId home = entries_[block].home();
  if (home == kNoNode || !reaches(home)) co_return false;
  std::uint32_t word = co_await s.perform(LoadWord{home, BlockId{block}});
  if (!is_armed_for_us(word)) co_return false;
  bool taken = co_await take(s, block, home, word);
  if (!taken) co_return false;
  mark(Mark::kReleaseTakesHome);
  co_await s.perform(CopyHome{.node = home, .blocks = {block, 1}, .slot = 0});
  co_await s.perform(Merge{.block = BlockId{block}, .slot = 0, .merges = true});
  leases_.insert(block);
  co_await become_home(s, {block, 1}, false);
  if (!scans()) co_await s.perform(Unprotect{{block, 1}});
  bool told = word & kTracked || !mutant(Mutant::kTakeTrustsWord);
  if (told && !mutant(Mutant::kTakeForgetsTracked)) notice(block);
  co_return true;
}

// Who takes an untracked home tracks it, or gives notice: readers may rely on notices from before
// the former home untracked it, and its notice of that may not have come to all who hear of our
// writes.
bool Hlrc::tracks_taken(std::uint64_t block) const {
  if (mutant(Mutant::kTakeForgetsTracked)) return false;
  return !mutant(Mutant::kTakeTrustsWord) || !leases_.contains(block);
}

// Blocks whose home this node has taken, whose bytes are here, and whose locks it holds: from here
// on they are found here.
Task<> Hlrc::become_home(Strand& s, BlockRange run, bool tracks) {
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool tracked = tracks && tracks_taken(b);
    if (tracked) {
      mark(Mark::kTakesTrackedHome);
      track(b);
    } else {
      tracked_.erase(b);  // a reader may have asked for it in a life before
    }
    leases_.erase(b);
    remove_cached(b);
    spare_.insert(b);
    entries_[b].set_home(config_.self, true);
    predictor_.home_came(b);
    std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{b}});
    std::uint32_t times = (word + (1u << 5)) & kTimes;
    co_await s.perform(StoreWord{BlockId{b}, times | kHere | (tracked ? kTracked : 0)});
  }
}

Task<bool> Hlrc::swap_word(Strand& s, NodeId node, std::uint64_t block, std::uint32_t from,
                           std::uint32_t to) {
  if (mutant(Mutant::kMoveWithoutSwap)) from = co_await s.perform(LoadWord{node, BlockId{block}});
  co_return co_await s.perform(SwapWord{node, BlockId{block}, from, to});
}

// A home cannot be evicted: only as many are taken as leave a part of the memory to copies.
bool Hlrc::may_take() const {
  if (!config_.migrate || config_.limit == ~0ull) return config_.migrate;
  std::uint64_t copies = cached() * (scans() ? 2 : 1) + idle_count_.load(std::memory_order_relaxed);
  return room() + copies > config_.reserve;
}

// Takes the home that is offered by `word`, unless that has changed. Who follows it here waits from
// before it has moved until become_home().
Task<bool> Hlrc::take(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word) {
  std::uint32_t own = co_await s.perform(LoadWord{config_.self, BlockId{block}});
  co_await s.perform(StoreWord{BlockId{block}, own | kComing});
  std::uint32_t moved = word_for(config_.self) | kMoved | (word & kTimes);
  bool taken = co_await swap_word(s, home, block, word, moved);
  if (!taken) co_await s.perform(StoreWord{BlockId{block}, own});
  co_return taken;
}

// Our own word of a home that is not on offer.
Task<> Hlrc::store_word(Strand& s, std::uint64_t block, std::uint32_t bits) {
  std::uint32_t word = co_await s.perform(LoadWord{config_.self, BlockId{block}});
  co_await s.perform(StoreWord{BlockId{block}, (word & kTimes) | bits});
}

// Whether the home stayed where a copy was made from since its word was loaded. A former home's
// memory may hold anything.
Task<bool> Hlrc::stayed(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word) {
  if (!config_.migrate || mutant(Mutant::kReadOnce)) co_return true;
  std::uint32_t now = co_await s.perform(LoadWord{home, BlockId{block}});
  bool same = !(now & kMoved) && (now & kTimes) == (word & kTimes);
  if (!same) mark(Mark::kFaultReadsAgain);
  co_return same;
}

bool Hlrc::is_armed_for_us(std::uint32_t word) const {
  return may_take() && (word & kOffered) && (word & kArmed) && home_in(word) == config_.self;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
