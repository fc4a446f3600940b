#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "protocol/steps/instrument.h"
#include "protocol/steps/reduction.h"
#include "wire/message.h"
#include "wire/notice_set.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

using wire::BlockRange;
using wire::Homes;
using wire::Propagation;
using wire::Protocol;
using wire::RegionPolicy;

enum class Access : std::uint8_t { kRead = 1, kWrite = 2 };
using WaiterId =
    Id<struct WaiterTag, std::uint32_t>;  // an operation of this node, for as long as it runs
inline constexpr WaiterId kNobody{~0u};

// ---- What the node's machine (core.h) is told, and what it answers
// --------------------------------------------------

// A node's activity (Hlrc) when it asks for a token; this: something was just under way.
inline constexpr std::uint64_t kUnsettled = ~0ull;

struct LockAcquire {
  LockId lock;
  WaiterId waiter;
  std::uint64_t activity = kUnsettled;
};  // resumed as holder; payload: as Acquired says
struct LockTry {
  LockId lock;
  WaiterId waiter;
  std::uint64_t activity = kUnsettled;
};  // the same, if nobody holds the lock or is in line for it; else resumed with Acquired::kBusy
struct LockHandOff {
  LockId lock;
  WaiterId waiter;
  bool lazily = false;         // the release may be left until the token leaves the node ...
  std::uint64_t releases = 0;  // ... and this node had begun so many before
  std::uint32_t extends = 0;   // lazily: so often also while another node waits for the token
};                             // resumed at once with a HandOff
struct LockEndTurn {
  LockId lock;
};  // some time after each TurnExtended: the token leaves as soon as no thread here holds the lock
struct LockRelease {
  LockId lock;
  WaiterId waiter;
  std::uint64_t activity = kUnsettled;
};  // after the flush
struct LockHeld {
  LockId lock;
  WaiterId waiter;
};  // resumed at once: 1 when this waiter holds it
enum class CountOp : std::uint8_t {
  kAdd,
  kSet,
  kAnd,
  kOr,
  kXor,
  kMin,
  kMax,
  kTicket,        // so many tickets (operand), of which the last is the result
  kTicketIfFree,  // only if the count, with the change's `room`, has reached them; else 0
  kSignal,        // the count goes up by one, if there is a ticket that it has not reached
  kSignalAll,     // ... up to the last ticket
  kReset,         // the count begins again with this value and no tickets
  kFree,          // no change; the result is by how much the count, and the operand, exceed its
                  // tickets
  kArrive,        // one more has come of those that meet, as many each round as there are tickets.
                  // The result is what the count is when this round is complete; 0: no tickets
};
struct CountChange {
  LockId count;
  CountOp op;
  std::int64_t operand;
  WaiterId waiter;
  std::int64_t room = 0;
};  // by the holder of its token. Resumed at once: what the count was, or as the operation says
struct CountAwait {
  LockId count;
  std::int64_t until;
  WaiterId waiter;
};  // by the holder. Resumed at once: 1 when the count has reached it; 0: a CountSleep must come
// How a sleeper was woken: by a thread of its node; not at all; or by one of another node: then the
// answer is a notice set, or the count's token brings blocks as well, which are wanted.
enum class Woken : std::uint8_t { kHere, kExpired, kElsewhere, kTokenHasMore };
struct CountSleep {
  WaiterId waiter;
  bool may_expire = false;
};  // resumed with Woken when the count has reached it. may_expire: the host may step a CountExpire
struct CountExpire {
  WaiterId waiter;
};  // the sleeper is resumed with kExpired, unless it was woken; a CountGiveUp must come
struct CountGiveUp {
  LockId count;
  std::int64_t tickets;
  WaiterId waiter;
};  // by the holder, after a CountExpire. Resumed at once: 1, and these tickets, the sleeper's last
    // ones, are no more; 0: the sleeper has been woken, and a CountSleep must come
struct BarrierEnter {
  BarrierId barrier;
  std::uint32_t threads_here;
  WaiterId waiter;
  Contribution contribution{};
};  // resumed: a BarrierRole; payload of those that left: what was reduced
struct BarrierGather {
  BarrierId barrier;
  std::uint32_t threads_here;
  bool all_nodes;
  WaiterId waiter;
};  // by the thread of node 0 that will be the last to enter the barrier, before it enters: resumed
    // when all other threads here wait in it and, with all_nodes, all other nodes have arrived by
    // messages. Resumed: how many departures' notices this node has learned or, with all_nodes, how
    // many departures have come; payload: with all_nodes, the notice set of the other nodes
struct BarrierTold {
  BarrierId barrier;
  WaiterId waiter;
  bool broadcasts = false;
};  // after the node's release; resumed at once: 0 if this node has to tell the others something,
    // or one of them has told it something already; else how many departures' notices it learned, +
    // 1. broadcasts: what the last one here broadcasts, this node tells the others in memory
struct BarrierArrive {
  BarrierId barrier;
  WaiterId waiter;
  bool acquired = true;
  const std::vector<std::uint64_t>* with_arrival = nullptr;
};  // the last one here, after the flush; acquired: since it arrived before, this node acquired, or
    // dropped copies, by other ways than departures; along: blocks of ours that the other one of
    // two nodes was promised. Resumed: the departure's number and, beside it, kContributionsDiffer,
    // kArrivalTaken, kCameWithArrival; payload: a notice set, or if it came as of
    // Acquired::kWithBlocks
struct BarrierResult {
  BarrierId barrier;
  WaiterId waiter;
};  // by the last one here, after the departure. Resumed at once; payload: what was reduced
struct BarrierLeave {
  BarrierId barrier;
  Bytes told{};
};  // resumes those that wait here; told: what was broadcast in memory
struct CloseInterval {
  const std::vector<BlockRange>* notices;
};  // a release's notices, flushed; none: no interval
struct Learn {
  Bytes notices;
  bool everyone;
  LockId lock{};
  const std::vector<wire::WantedBlock>* wanted = nullptr;
};  // a set whose invalidations are done; everyone: a barrier told all nodes; wanted: it came with
    // this lock, which the waiter holds, and the next request for it names these blocks
struct RegionAllocate {
  std::uint64_t blocks;
  std::uint64_t bytes;
  RegionPolicy policy;
  std::uint32_t sequence;
  char name[32];
  WaiterId waiter;
};  // resumed with a wire::RegionReply as payload
struct RegionFind {
  BlockId block;
  WaiterId waiter;
};  // resumed with the block's home, or one of kHome..., and the policy (region_table.h: found)
struct RegionExtent {
  BlockId block;
  WaiterId waiter;
};  // resumed with how many blocks of the same allocation begin here, 0 when it is not known here
struct RegionFree {
  BlockId first;
  WaiterId waiter;
};  // resumed with a wire::RegionStatus
struct RegionDropped {
  RegionId region;
  BlockRange blocks;
};  // the Drop effect was carried out
// Pages with sequential consistency (sc/machine.h). The first is for the holder of the block's
// lock.
struct ScAsk {
  BlockId block;
  Access access;
  NodeId home;
  WaiterId waiter;
};  // resumed at once: what was granted (an Access), which the waiter installs now; or 0
struct ScAwait {
  BlockId block;
  WaiterId waiter;
};  // resumed when what this node asked for was granted
struct ScInstalled {
  BlockId block;
};
struct ScYielded {
  BlockId block;
  NodeId home;
  bool wrote;
  bool keeps_copy;
  bool asked = true;
};  // a Recall was carried out; not asked: the node gives the page back by itself
struct ScGiveBack {
  BlockId block;
  bool spares;
  WaiterId waiter;
};  // may the page go? By the holder of its lock. Resumed at once: 1 if nobody here has asked for
    // it. spares: the host may say 0 of what a thread has only just got
struct ExpireCopies {
  const std::vector<BlockRange>* ranges;
  WaiterId waiter;
};  // of an eager release, flushed; resumed when all nodes have dropped their copies of these
struct Expired {
  NodeId origin;
  WaiterId waiter;
};  // the Expire effect was carried out
struct AskOffer {
  NodeId home;
  BlockRange run;
  bool reads;  // and does not write yet
  WaiterId waiter;
};  // that it offers us these blocks; resumed with how many of them it did, unless kNobody waits
struct OfferMade {
  NodeId to;
  WaiterId waiter;
  std::uint64_t blocks;
};  // an Offer effect was carried out, and so many were offered
struct Received {
  NodeId from;
  Bytes message;
};

using Event =
    std::variant<LockAcquire, LockTry, LockHandOff, LockEndTurn, LockRelease, LockHeld, CountChange,
                 CountAwait, CountSleep, CountExpire, CountGiveUp, BarrierEnter, BarrierGather,
                 BarrierTold, BarrierArrive, BarrierResult, BarrierLeave, CloseInterval, Learn,
                 RegionAllocate, RegionFind, RegionExtent, RegionFree, RegionDropped, ScAsk,
                 ScAwait, ScInstalled, ScYielded, ScGiveBack, ExpireCopies, Expired, AskOffer,
                 OfferMade, Received>;

// kRemote: the payload is the grant's notice set. kHeldAlready: by this very waiter; nothing was
// done. kWithBlocks: as kRemote, and the grant carries blocks; the payload is a GrantHead, the
// notice set, and wire::GrantedBlocks, each with its bytes. kBusy: of a LockTry alone.
enum class Acquired : std::uint64_t { kHere, kRemote, kHeldAlready, kWithBlocks, kBusy };
struct GrantHead {
  std::uint64_t activity;  // of this node, when it asked for the token
  std::uint64_t notice_bytes;
};
// kRelease: a release and a LockRelease must come. kKept: the token rests here, without a release.
enum class HandOff : std::uint64_t { kRelease, kHandedOver, kKept, kNotHeld };
enum class BarrierRole : std::uint64_t { kLast, kLeft, kMismatched };  // the last two: it is over
// Beside a departure's number.
inline constexpr std::uint64_t kContributionsDiffer = 1ull << 32;
inline constexpr std::uint64_t kArrivalTaken = 1ull << 33;  // what went along is not sent as news
inline constexpr std::uint64_t kCameWithArrival = 1ull << 34;  // what came along may be taken
inline constexpr std::uint64_t kHomeFirstTouch = 1ull << 32;   // | directory_found()
inline constexpr std::uint64_t kHomeNowhere = 1ull << 33;      // in no allocation

struct Send {
  NodeId to;
  std::uint32_t offset;
  std::uint32_t size;
  BlockRange with{};
  std::uint32_t wanted = 0;
};  // bytes of Effects::bytes; behind them those of our blocks `with`, if any. wanted: so many
    // block numbers (8 bytes each) follow the message in Effects::bytes; of those that are here now
    // as who cannot reach our memory fetches them (served.h: answer_news) a wire::GrantedBlock goes
    // behind the message
struct Resume {
  WaiterId waiter;
  std::uint64_t value;
  std::uint32_t offset;
  std::uint32_t size;
};
struct Drop {
  RegionId region;
  BlockRange blocks;
};  // run Hlrc::drop, then step RegionDropped
struct Recall {
  BlockId block;
  NodeId home;
  bool keeps_copy;
};  // run sc::Pages::yield
struct Place {
  BlockId block;
  Bytes bytes;
};  // to our memory of the block, before what follows in the list; bytes of the event's message
struct Expire {
  NodeId origin;
  WaiterId waiter;
  std::uint32_t offset;
  std::uint32_t size;
};  // BlockRanges of Effects::bytes: run Hlrc::expire, then step Expired
struct Offer {
  NodeId to;
  WaiterId waiter;
  BlockRange run;
  bool reads;
};  // run Hlrc::offer_asked, then step OfferMade
struct ReleaseKept {
  LockId lock;
  std::uint64_t releases;
};  // a token that rests here without a release has to leave: run Hlrc::release_kept, then step
    // LockRelease by kNobody
struct TurnExtended {
  LockId lock;
};  // a token rests here though a node waits for it: step LockEndTurn soon
struct Malformed {
  NodeId from;
};  // close that peer

// What a step answers. Owned by the host and reused: nothing is allocated when warm.
struct Effects {
  std::vector<std::variant<Send, Resume, Drop, Recall, Place, Expire, Offer, ReleaseKept,
                           TurnExtended, Malformed>>
      list;
  std::vector<std::byte> bytes;

  void clear() {
    list.clear();
    bytes.clear();
  }
  bool resumes(WaiterId waiter) const {
    return std::any_of(list.begin(), list.end(), [waiter](const auto& effect) {
      const auto* resume = std::get_if<Resume>(&effect);
      return resume != nullptr && resume->waiter == waiter;
    });
  }
};

// A home word, one a block, which peers load before they copy. Zero: an untracked home, or not a
// home at all.
inline constexpr std::uint32_t kTracked = 1;  // readers rely on notices
inline constexpr std::uint32_t kHere = 2;  // set by who became the home by a move, and who tracks
                                           // and knows that it is the home
inline constexpr std::uint32_t kOffered = 4;       // home_in() may become the home ...
inline constexpr std::uint32_t kArmed = 8;         // ... from now on, by a swap to kMoved
inline constexpr std::uint32_t kMoved = 16;        // home_in() is the home, or is just becoming it
inline constexpr std::uint32_t kTimes = 3u << 5;   // how often the node has become the home
inline constexpr std::uint32_t kComing = 1u << 7;  // the node takes the home just now
inline constexpr std::uint32_t kStays = kTracked | kHere | kTimes;  // an offer leaves this as it is
inline constexpr std::uint32_t word_for(NodeId node) { return node.value << 8; }
inline constexpr NodeId home_in(std::uint32_t word) { return NodeId{word >> 8}; }

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
