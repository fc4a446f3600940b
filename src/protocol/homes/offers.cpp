#include "protocol/homes/offers.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

Task<> Offers::offer_homes(Strand& s, Bytes notices) {
  find_sole_writers(notices);
  std::size_t fresh = offers_.size();
  if (!deferred_.empty()) mark(Mark::kExitOffersLate);
  offers_.insert(offers_.end(), deferred_.begin(), deferred_.end());
  deferred_.clear();
  if (offers_.empty()) co_return;
  for (std::size_t i = 0; i < offers_.size(); ++i) co_await offer(s, offers_[i], i < fresh);
  co_await arm_offers(s);
  // The deferred offers need one more barrier exit.
  if (!deferred_.empty()) others_wrote_.store(true, std::memory_order_relaxed);
}

// Collects in offers_ this node's movable blocks of which one other node alone gave notice.
void Offers::find_sole_writers(Bytes notices) {
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
        others = others || (entry.node != node_.config.self.value && writers_.size() > before);
      }
    }
  }
  if (!others) return;
  // A sweep along the blocks: counts the nodes whose runs cover the place, and adds up their
  // numbers. If the count is one, the sum is the node. A node's own runs do not overlap once they
  // are merged.
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
    bool sole = nodes == 1 && sum != node_.config.self.value && end > edges[i].at;
    if (sole)
      offers_.push_back(
          {{edges[i].at, end - edges[i].at}, NodeId{static_cast<std::uint32_t>(sum)}});
  }
}

void Offers::note_writer(BlockRange range, NodeId writer) {
  for (std::uint64_t b = range.first; b < range.end(); ++b) {
    if (node_.entries[b].home() != node_.config.self || !node_.entries[b].movable()) continue;
    if (!writers_.empty() && writers_.back().by == writer && writers_.back().run.end() == b) {
      ++writers_.back().run.count;
    } else {
      writers_.push_back({{b, 1}, writer});
    }
  }
}

void Offers::note_eager_writer(BlockRange range, NodeId writer) {
  if (!node_.config.migrate || eager_writers_.size() >= kMostEagerWriters) return;
  writers_.swap(eager_writers_);
  std::size_t before = writers_.size();
  note_writer(range, writer);
  bool other = writer != node_.config.self && writers_.size() > before;
  if (other) others_wrote_.store(true, std::memory_order_relaxed);
  writers_.swap(eager_writers_);
}

void Offers::forget_writers(BlockRange range) {
  auto is_in = [range](const Written& written) {
    return written.run.first < range.end() && range.first < written.run.end();
  };
  std::erase_if(eager_writers_, is_in);
  std::erase_if(deferred_, is_in);
}

// fresh: the notices of this barrier exit name the writer; else the offer was deferred.
Task<> Offers::offer(Strand& s, Written written, bool fresh) {
  auto [run, to] = written;
  for (std::uint64_t b = run.first; b < run.end(); ++b) co_await node_.lock_block(s, b);
  for (std::uint64_t b = run.first; b < run.end();) {
    BlockRange part{b, 0};
    while (part.end() < run.end()) {
      bool may = node_.predictor.offers(part.end(), to);
      if (may) may = co_await can_offer(s, part.end(), to);
      if (may && fresh && node_.predictor.defers(part.end())) {
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
      co_await node_.unlock_block(s, b, node_.entries[b].state());
      ++b;
    }
  }
}

// The block, whose lock is held, is offered at the next barrier exit.
Task<> Offers::defer(Strand& s, std::uint64_t block, NodeId to) {
  bool goes_on = !deferred_.empty() && deferred_.back().by == to;
  if (goes_on && deferred_.back().run.end() == block + 1) co_return;  // it is added already
  mark(Mark::kExitDefersOffer);
  if (goes_on && deferred_.back().run.end() == block) {
    ++deferred_.back().run.count;
  } else {
    deferred_.push_back({{block, 1}, to});
  }
  // A writer on another host keeps its copy of a tracked block until a notice names it. The notice
  // is given now, so that the writer asks again when the block is offered.
  bool far = !node_.reaches(to) && node_.entries[block].state() == BlockState::kHome;
  if (far && node_.tracked.contains(block)) co_await tracked_homes_.untrack(s, block);
}

// Whether the home is here, and not on offer to `to`. An offer to another node is ended: that node
// asked for more than it used, and would keep the home from the node that does use it.
Task<bool> Offers::can_offer(Strand& s, std::uint64_t block, NodeId to) {
  const BlockEntry& entry = node_.entries[block];
  bool copy = entry.state() == BlockState::kClean || entry.state() == BlockState::kWritten;
  if (copy || entry.home() != node_.config.self || !entry.movable()) co_return false;
  std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
  if (word & kMoved) co_return false;
  if (!(word & kOffered)) co_return true;
  if (home_in(word) == to) co_return false;
  mark(Mark::kExitMovesOffer);
  if (mutant(Mutant::kMovesTakenOffer)) co_return true;
  bool ended = co_await homes_.swap_word(s, node_.config.self, block, word, word & kStays);
  co_return ended;
}

// Takes the blocks out of the view of the home's own threads. A thread that wants to write to one
// faults, and the fault ends the offer.
Task<> Offers::offer_part(Strand& s, BlockRange run, NodeId to) {
  mark(node_.entries[run.first].eager() ? Mark::kExitOffersEager : Mark::kExitOffersHome);
  if (!mutant(Mutant::kOfferMapped)) co_await s.perform(Zap{run});
  for (std::uint64_t b = run.first; b < run.end(); ++b) {
    bool tracked = node_.tracked.contains(b) && node_.entries[b].state() == BlockState::kHome;
    bool written = node_.written.contains(b) || (tracked && node_.scans());
    // What was written since the last release cannot be found any more. And a copy on another host
    // that relies on notices would never ask for the block.
    bool far = tracked && !node_.reaches(to);
    if (far) mark(Mark::kExitGivesNotice);
    if (written) mark(Mark::kExitOffersWritten);
    if (far || (written && !mutant(Mutant::kOfferForgetsWrites))) notices_.notice(b);
    node_.written.erase(b);
    node_.remove_home(b);
    node_.leaving.insert(b);
    std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{b}});
    std::uint32_t offered = (word & kStays) | kOffered | word_for(to);
    if (mutant(Mutant::kOfferDespiteFlush)) offered |= kArmed;
    co_await s.perform(StoreWord{BlockId{b}, offered});
    co_await node_.unlock_block(s, b, BlockState::kInvalid);
  }
}

// A thread that began to store at a home before it could see the offer may still be storing: then
// the offer is ended at once. The node that may take a block does not matter: it stores under the
// same lock under which it takes the home.
Task<> Offers::arm_offers(Strand& s) {
  std::uint32_t storing = 0;
  NodeId last = kNoNode;
  for (std::uint32_t n = 0; n < node_.config.nodes; ++n) {
    // For nodes that cannot reach this node's memory, this node stores what they send.
    bool here = n == node_.config.self.value;
    if (!node_.reaches(NodeId{n}) || (here && mutant(Mutant::kApplyUncounted))) continue;
    std::uint32_t threads = co_await s.perform(LoadFlushing{NodeId{n}});
    if (threads == 0) continue;
    ++storing;
    last = NodeId{n};
  }
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    auto [run, to] = offers_[i];
    bool free = storing == 0 || (storing == 1 && last == to);
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{b}});
      if ((word & ~kStays) != (kOffered | word_for(to))) continue;
      if (!free) mark(Mark::kExitEndsOffer);
      co_await homes_.swap_word(s, node_.config.self, b, word,
                                free ? word | kArmed : word & kStays);
    }
  }
}

Task<std::uint64_t> Offers::offer_asked(Strand& s, Offer asked) {
  co_await s.pause();
  if (!node_.try_enter()) {
    mark(Mark::kAskedWhileReleasing);
    co_return 0;
  }
  auto [to, waiter, run, wish] = asked;
  offers_.clear();
  std::uint64_t count = 0;
  for (std::uint64_t b = run.first; b < run.end();) {
    BlockRange part{b, 0};
    while (part.end() < run.end()) {
      bool may = co_await may_offer_asked(s, part.end(), to, wish);
      if (!may) break;
      ++part.count;
    }
    b = part.end() + 1;
    if (part.count == 0) continue;
    mark(Mark::kAskedAndOffers);
    for (std::uint64_t i = part.first; i < part.end() && wish != OfferWish::kAdopts; ++i)
      node_.predictor.home_given(i, wish == OfferWish::kReads);
    co_await offer_part(s, part, to);
    offers_.push_back({part, to});
    count += part.count;
  }
  co_await arm_offers(s);
  co_await node_.leave(s);
  co_return count;
}

// Locks the block, if it may be offered.
Task<bool> Offers::may_offer_asked(Strand& s, std::uint64_t block, NodeId to, OfferWish wish) {
  co_await s.pause();
  if (!node_.entries[block].try_lock_now()) co_return false;
  bool may = co_await can_offer(s, block, to);
  if (may && wish != OfferWish::kAdopts) {
    std::uint32_t word = co_await s.perform(LoadWord{node_.config.self, BlockId{block}});
    may = node_.predictor.may_give(block, wish == OfferWish::kReads, (word & kTimes) != 0);
  }
  if (!may) co_await node_.unlock_block(s, block, node_.entries[block].state());
  co_return may;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
