// What a home sends unasked, and what its readers do with it: promises, news at departures, blocks
// with an arrival, a serial number where nothing has changed.
#include <algorithm>

#include "protocol/hlrc/hlrc.h"
#include "protocol/push/news_tree.h"
#include "protocol/serve/served.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What misses were promised is expected from here on. What may have been ended meanwhile, or comes
// within a longer run already, is not; nor what the predictor does not want any more.
Task<> Hlrc::expect_promised(Strand& s) {
  while (auto made = misses_promises_.take()) {
    bool stands = made->stands && !expectations_.ends(made->home, made->run);
    if (mutant(Mutant::kExpectsWhatEnded)) stands = true;
    if (!stands) mark(Mark::kAcquireRefusesPromise);
    stands = stands && !expectations_.comes_within(made->home, made->run);
    if (stands && predictor_.keeps_subscription(made->run, made->predicted)) {
      expectations_.note(made->home, made->run, made->after);
    } else {
      expectations_.refuse(made->home, made->run);
    }
  }
  co_await end_promises(s);
}

// A home that was asked once sends the run unasked at its next departures: it is as if we had asked
// at that moment. If this node flushed or acquired after it arrived, the bytes of that moment may
// be older than what its threads know, and it asks again. It asks, too, where the home says so.
Task<Hlrc::Fetched> Hlrc::take_news(Strand& s, BlockRange run, NodeId home, Departure at,
                                    std::vector<std::uint32_t>& serials) {
  if (at.number == 0 || reaches(home) || !expectations_.covers(home, run, at.number))
    co_return Fetched{.home = home};
  if (!at.usable) {
    mark(Mark::kAcquireLeavesNews);
    co_return Fetched{.home = home};
  }
  TakenPush pushed = co_await s.perform(TakeNews{home, run, at.number, &serials});
  if (pushed.gone) {
    mark(Mark::kAcquireFindsNewsGone);
    co_await give_up(s, home, run);
    co_return Fetched{.home = home};
  }
  for (std::uint64_t i = 0; i < run.count; ++i)
    if (pushed.same >> i & 1 && !has_kept(run.first + i, serials[i]))
      co_return Fetched{.home = home};
  mark(Mark::kAcquireRenewsByNews);
  co_return Fetched{.home = home,
                    .count = run.count,
                    .tracked = pushed.tracked,
                    .same = pushed.same,
                    .news = true};
}

// Whether the copy is still what came by this serial number, whose bytes the home has left out. If
// not, it is asked, and the bytes come with the next news.
bool Hlrc::has_kept(std::uint64_t block, std::uint32_t serial) const {
  bool kept = entries_[block].news == serial || mutant(Mutant::kKeepsAnySerial);
  mark(kept ? Mark::kAcquireKeepsSame : Mark::kAcquireAsksForSame);
  return kept;
}

// What was renewed is now by the serial number of the news, or by none.
void Hlrc::note_news(const std::vector<std::uint32_t>& serials, std::uint64_t block,
                     std::uint64_t index, const Fetched& got) {
  if (got.same >> index & 1) return;
  if (!mutant(Mutant::kMissKeepsSerial) || got.news)
    entries_[block].news = got.news ? serials[index] : 0;
}

// Before the home is asked again: what it promises then is not what ends here.
Task<bool> Hlrc::give_up(Strand& s, NodeId home, BlockRange run) {
  expectations_.give_up(home, run);
  if (!mutant(Mutant::kEndsPromiseLate)) co_await end_promises(s);
  co_return true;
}

// The homes of what nobody here expects any more hear of it.
Task<> Hlrc::end_promises(Strand& s) {
  auto ended = expectations_.take_ended();
  if (ended.empty()) co_return;
  misses_promises_.ending(true);
  for (const auto& [home, run] : ended) {
    mark(Mark::kAcquireEndsPromise);
    co_await s.perform(EndPromise{home, run});
  }
  misses_promises_.ending(false);
}

// What the grant has of the block, or nullptr.
const Hlrc::Grant::Block* Hlrc::granted_of(const Grant& grant, std::uint64_t block) {
  for (const Grant::Block& one : grant.blocks)
    if (one.head.block == block) return &one;
  return nullptr;
}

// What came with the grant, or with the other node's arrival, that is being applied: the home
// answered for the block as it would have answered a fetch. If this node flushed, acquired or
// dropped a region after it asked for the lock, or arrived, that may be older than what its threads
// know. What this node wrote since the departure before, the home may have sent along without it,
// and sends as news: both see it in the departure's notices.
Hlrc::Brought Hlrc::brought_by(const Strand& s, std::uint64_t block, NodeId home,
                               Departure at) const {
  const Grant::Block* granted = granted_of(at.grant, block);
  if (granted == nullptr) return Brought::kNot;
  const wire::GrantedBlock& head = granted->head;
  bool arrival = at.number != 0;
  if (arrival && is_named(s.inbox, NodeId{head.home}, {block, 1})) {
    mark(Mark::kAcquireLeavesOverwritten);
    return Brought::kNot;
  }
  if (!at.usable) mark(arrival ? Mark::kAcquireLeavesNews : Mark::kLockLeavesGranted);
  bool good = at.usable && NodeId{head.home} == home;
  if (good && head.bytes > 0) return Brought::kHere;
  if (!arrival) return Brought::kNot;
  if (good && head.serial != 0)
    return has_kept(block, head.serial) ? Brought::kHere : Brought::kStale;
  if (good) mark(Mark::kAcquireFindsNewsGone);
  return good ? Brought::kGone : Brought::kStale;
}

// Whether a notice of another than `home` names some of the blocks.
bool Hlrc::is_named(Bytes notices, NodeId home, BlockRange run) {
  if (mutant(Mutant::kAlongOverOwn)) return false;
  wire::NoticeReader reader(notices);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry))
    while (reader.next_record(record))
      while (reader.next_range(range))
        if (NodeId{entry.node} != home && range.first < run.end() && run.first < range.end())
          return true;
  return false;
}

Task<Hlrc::Fetched> Hlrc::take_granted(Strand& s, BlockRange run, NodeId home, Departure at,
                                       std::vector<std::uint32_t>& serials) {
  mark(at.number == 0 ? Mark::kLockRenewsByGrant : Mark::kAcquireRenewsByArrival);
  Fetched got{.home = home, .count = run.count, .news = at.number != 0};
  serials.resize(run.count);
  for (std::uint64_t i = 0; i < run.count; ++i) {
    const Grant::Block* granted = granted_of(at.grant, run.first + i);
    TERRANE_CHECK(granted != nullptr, "it has been looked for");
    serials[i] = granted->head.serial;
    if (granted->head.tracked != 0) got.tracked |= 1ull << i;
    if (granted->head.bytes == 0) got.same |= 1ull << i;
    if (granted->head.bytes == 0) continue;
    co_await s.perform(TakeGranted{BlockId{run.first + i}, at.grant.bytes.data() + granted->at, i});
  }
  co_return got;
}

// What of this node's promises can go with its arrival at the other of two nodes: then the
// departure brings it, and no message after it. If they acquired nothing from each other but by
// departures since the one before, nobody knows of anything newer than what it had when it arrived,
// but for what the reader wrote.
std::vector<std::uint64_t> Hlrc::select_along() {
  std::vector<std::uint64_t> along;
  if (config_.nodes != 2 || config_.tunables.promised == 0) return along;
  NodeId other{1 - config_.self.value};
  if (reaches(other)) return along;
  for (const auto& [run, reader] : promises_.due_next()) {
    if (reader != other || along.size() + run.count > wire::kMostAlong) continue;
    if (!predictor_.sends_with_arrival(run)) continue;
    for (std::uint64_t b = run.first; b < run.end(); ++b) along.push_back(b);
  }
  return along;
}

bool Hlrc::any_along(const std::vector<std::uint64_t>& along, BlockRange run) {
  return std::any_of(along.begin(), along.end(),
                     [&](std::uint64_t b) { return run.first <= b && b < run.end(); });
}

// Whether the departure brought the run to its reader.
bool Hlrc::went_along(const std::vector<std::uint64_t>& along, Bytes notices,
                      BlockRange run) const {
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (std::find(along.begin(), along.end(), b) == along.end()) return false;
  return !is_named(notices, config_.self, run);
}

// The first run, and the readers that are sent it together.
BlockRange Hlrc::take_readers(std::span<const Promised> due, std::vector<NodeId>& readers) const {
  BlockRange run = due[0].run;
  readers.clear();
  for (const Promised& one : due) {
    if (one.run.first != run.first || one.run.count != run.count) break;
    readers.push_back(one.reader);
  }
  if (readers.size() > 1 && !predictor_.pushes_along_tree(readers.size())) readers.resize(1);
  if (readers.size() > 1) mark(Mark::kDepartureSpreadsNews);
  return run;
}

// Keeps this node's promises for a departure: by now all that was to be flushed for it is at the
// homes. Takes no lock, so that nobody who waits for news waits for one that waits for his. What
// went along, and does not stand, its reader has not kept.
Task<> Hlrc::send_news(Strand& s, std::uint32_t departure, const std::vector<std::uint64_t>& along,
                       bool stands) {
  if (config_.tunables.promised == 0) co_return;
  promises_.depart(departure);
  co_await s.pause();
  std::vector<Promised> due = promises_.due(departure);
  std::vector<NodeId> readers;
  for (std::size_t at = 0; at < due.size(); at += readers.size()) {
    BlockRange run = take_readers(std::span(due).subspan(at), readers);
    if (stands && went_along(along, s.inbox, run)) continue;
    bool whole = any_along(along, run) || !predictor_.pushes_versions();
    co_await server_.push(s, run, readers, departure, whole);
  }
  co_await s.perform(SendPushes{});
  co_await s.pause();
  promises_.keep();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
