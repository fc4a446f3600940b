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
using wire::OfferWish;
using wire::Propagation;
using wire::Protocol;
using wire::RegionPolicy;

enum class Access : std::uint8_t { kRead = 1, kWrite = 2 };
using WaiterId =
    Id<struct WaiterTag, std::uint32_t>;  // an operation of this node, for as long as it runs
inline constexpr WaiterId kNobody{~0u};

// ---- What the core (core.h) is given, and what it answers

// In place of a node's activity (Hlrc) at its request for a token: a flush, an acquire or a drop
// was just under way.
inline constexpr std::uint64_t kUnsettled = ~0ull;

struct LockAcquire {
  LockId lock;
  WaiterId waiter;
  std::uint64_t activity = kUnsettled;
};  // resumed as the holder; payload: see Acquired
struct LockTry {
  LockId lock;
  WaiterId waiter;
  std::uint64_t activity = kUnsettled;
};  // the same if no node holds the lock or waits for it; else resumed with Acquired::kBusy
struct LockHandOff {
  LockId lock;
  WaiterId waiter;
  bool lazily = false;         // the release may wait until the token leaves the node
  std::uint64_t releases = 0;  // lazily: so many releases had begun on this node before
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
  kTicket,        // takes `operand` tickets; the result is the last of them
  kTicketIfFree,  // the same if count + `room` has reached them; else nothing, result 0
  kSignal,        // adds 1 to the count, if there is a ticket that it has not reached
  kSignalAll,     // sets the count to the last ticket
  kReset,         // sets the count to the operand, and the tickets to 0
  kFree,          // changes nothing; result: count + operand - tickets
  kArrive,  // adds 1 to the count: a thread arrives at a rendezvous of `tickets` threads a round.
            // Result: the count when this round is complete; 0: no tickets
};
struct CountChange {
  LockId count;
  CountOp op;
  std::int64_t operand;
  WaiterId waiter;
  std::int64_t room = 0;
};  // by the holder of the count's token; resumed at once with the count before, or as the
    // operation says
struct CountAwait {
  LockId count;
  std::int64_t until;
  WaiterId waiter;
};  // by the holder; resumed at once: 1: the count has reached `until`; 0: a CountSleep must come
// How a sleeper was woken. kHere: by a thread of its node. kExpired: it was not woken. kElsewhere:
// by a thread of another node; the payload is a notice set. kTokenHasMore: the same without a
// payload; the count's token carries the notices and wanted blocks.
enum class Woken : std::uint8_t { kHere, kExpired, kElsewhere, kTokenHasMore };
struct CountSleep {
  WaiterId waiter;
  bool may_expire = false;
};  // resumed with a Woken when the count has reached it. may_expire: the host may step a
    // CountExpire
struct CountExpire {
  WaiterId waiter;
};  // the sleeper is resumed with kExpired, unless it was woken; a CountGiveUp must come
struct CountGiveUp {
  LockId count;
  std::int64_t tickets;
  WaiterId waiter;
};  // by the holder, after a CountExpire; resumed at once: 1: the sleeper's last tickets, so many,
    // are given back; 0: the sleeper has been woken, and a CountSleep must come
struct BarrierEnter {
  BarrierId barrier;
  std::uint32_t threads_here;
  WaiterId waiter;
  Contribution contribution{};
};  // resumed with a BarrierRole; payload for those that left: the reduced values
struct BarrierGather {
  BarrierId barrier;
  std::uint32_t threads_here;
  bool all_nodes;
  WaiterId waiter;
};  // by a thread of node 0, before it enters the barrier as its last thread. Resumed when all
    // other threads here wait in the barrier and, with all_nodes, all other nodes have arrived by
    // messages. Value: without all_nodes, of how many barrier exits this node has learned the
    // notices; with it, how many exits have come. Payload with all_nodes: the notice set of the
    // other nodes
struct BarrierTold {
  BarrierId barrier;
  WaiterId waiter;
  bool broadcasts = false;
};  // after the node's release; resumed at once. 0: this node has something to report to the
    // others, or one of them has reported something; else 1 + the number of exits whose notices it
    // has learned. broadcasts: this node sends the others in memory what its last thread here
    // broadcasts
struct BarrierArrive {
  BarrierId barrier;
  WaiterId waiter;
  bool acquired = true;
  const std::vector<std::uint64_t>* with_arrival = nullptr;
};  // by the last thread here, after the flush. acquired: since its last arrival the node acquired,
    // or dropped copies, by other ways than barrier exits. with_arrival: blocks of ours to which
    // the other one of two nodes subscribed. Resumed with the exit's number and the flags
    // kContributionsDiffer, kArrivalTaken, kCameWithArrival; payload: a notice set or, if the last
    // flag is set, as for Acquired::kWithBlocks
struct BarrierResult {
  BarrierId barrier;
  WaiterId waiter;
};  // by the last thread here, after the barrier exit; resumed at once; payload: the reduced values
struct BarrierLeave {
  BarrierId barrier;
  Bytes told{};
};  // resumes the threads that wait here; `told`: what was broadcast in memory
struct CloseInterval {
  const std::vector<BlockRange>* notices;
};  // by a release that has notices, after its differences have arrived at the homes
struct Learn {
  Bytes notices;
  bool everyone;
  LockId lock{};
  const std::vector<wire::WantedBlock>* wanted = nullptr;
};  // a notice set that was applied: its invalidations are done. everyone: it came with a barrier
    // exit, so all nodes learn it. wanted: the set came with this lock, which the waiter holds; the
    // node's next request for the lock names these blocks
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
};  // resumed with the block's home, or kHomeFirstTouch or kHomeNowhere, and the policy
    // (region_table.h: found)
struct RegionExtent {
  BlockId block;
  WaiterId waiter;
};  // resumed with the number of blocks of the same allocation from this one on; 0: not known here
struct RegionFree {
  BlockId first;
  WaiterId waiter;
};  // resumed with a wire::RegionStatus
struct RegionDropped {
  RegionId region;
  BlockRange blocks;
};  // the Drop effect was carried out
// Pages with sequential consistency (sc/machine.h). ScAsk is for the holder of the block's lock.
struct ScAsk {
  BlockId block;
  Access access;
  NodeId home;
  WaiterId waiter;
};  // resumed at once: the Access that was granted, which the waiter installs now; or 0. With
    // kAcquires, the waiter first calls Ordering::acquire_from with the node in acquired_from()
inline constexpr std::uint64_t kAcquires = 1ull << 8;
inline NodeId acquired_from(std::uint64_t answer) {
  return NodeId{static_cast<std::uint32_t>(answer >> 32)};
}
struct ScAwait {
  BlockId block;
  WaiterId waiter;
};  // resumed when the node's request for the block was granted
struct ScInstalled {
  BlockId block;
};
struct ScYielded {
  BlockId block;
  NodeId home;
  bool wrote;
  bool keeps_copy;
  bool asked = true;
};  // a Recall was carried out; asked is false: the node gives the page back without a Recall
// Synchronisation pages (hlrc/promotions.h).
struct ScServe {
  BlockId block;
  NodeId home;
};  // by the holder of the block's lock: the block is a synchronisation page from now on. Its home
    // grants nothing before a ScReady
struct ScReady {
  BlockId block;
  NodeId home;
};  // all nodes have dropped their copies, and this node has acquired what they had released
struct AskNotices {
  NodeId node;
  WaiterId waiter;
};  // resumed when the node has answered; payload: a notice set of what it knows and we do not
// Fences (hlrc/fences.h).
struct Announce {
  WaiterId waiter;
  bool counted = false;
};  // resumed with 0 when all nodes have heard of all intervals that this node knows, or will have
    // before a fence that begins from now on; with 1: ask again; with Announcements::kCountFirst:
    // step CountAnnounced, then ask with `counted`
struct NextAnnounced {
  WaiterId waiter;
};  // resumed at once: 1 and a notice set that another node has announced and that is to be learned
    // here; 0: there is none
struct AwaitAnnounced {
  NodeId node;
  std::uint32_t count;
  WaiterId waiter;
};  // resumed when so many counted announcements have come from the node (LoadAnnounced)
struct ScGiveBack {
  BlockId block;
  bool spares;
  WaiterId waiter;
};  // may this node give the page back? By the holder of the block's lock; resumed at once: 1 if no
    // thread here has asked for the page. spares: the host may answer 0 for a page that a thread
    // has only just got
struct ExpireCopies {
  const std::vector<BlockRange>* ranges;
  WaiterId waiter;
  NodeId home = kNoNode;  // of the one block, which becomes a synchronisation page
};  // by an eager release, after its flush; resumed when all nodes have dropped their copies
struct Expired {
  NodeId origin;
  WaiterId waiter;
};  // the Expire effect was carried out
struct AskOffer {
  NodeId home;
  BlockRange run;
  OfferWish wish;
  WaiterId waiter;
};  // asks the home to offer us these blocks; resumed with the number that it offered, unless the
    // waiter is kNobody
struct OfferMade {
  NodeId to;
  WaiterId waiter;
  std::uint64_t blocks;
};  // an Offer effect was carried out, and `blocks` of its blocks were offered
struct AskAdoption {
  NodeId node;
  BlockRange run;
  bool presses;  // this node has hardly any memory left
  WaiterId waiter;
};  // asks the node to become the home of these blocks of ours; resumed with the number of those
    // that it took, unless the waiter is kNobody
struct AwaitAdoptions {
  WaiterId waiter;
};  // resumed when every node that was asked so has answered
struct AdoptionMade {
  NodeId to;
  WaiterId waiter;
  std::uint64_t blocks;
  std::uint64_t taken;
  std::uint32_t room;
};  // an Adopt effect was carried out: `taken` of its `blocks` are ours. room:
    // Hlrc::room_for_homes()
struct Received {
  NodeId from;
  Bytes message;
};

using Event =
    std::variant<LockAcquire, LockTry, LockHandOff, LockEndTurn, LockRelease, LockHeld, CountChange,
                 CountAwait, CountSleep, CountExpire, CountGiveUp, BarrierEnter, BarrierGather,
                 BarrierTold, BarrierArrive, BarrierResult, BarrierLeave, CloseInterval, Learn,
                 RegionAllocate, RegionFind, RegionExtent, RegionFree, RegionDropped, ScAsk,
                 ScAwait, ScInstalled, ScYielded, ScGiveBack, ScServe, ScReady, AskNotices,
                 Announce, NextAnnounced, AwaitAnnounced, ExpireCopies, Expired, AskOffer,
                 OfferMade, AskAdoption, AwaitAdoptions, AdoptionMade, Received>;

// kRemote: the payload is the grant's notice set. kHeldAlready: the waiter itself holds the lock;
// nothing was done. kWithBlocks: as kRemote, and the grant carries blocks; the payload is a
// GrantHead, the notice set, and wire::GrantedBlocks, each with its bytes. kBusy: only after a
// LockTry.
enum class Acquired : std::uint64_t { kHere, kRemote, kHeldAlready, kWithBlocks, kBusy };
struct GrantHead {
  std::uint64_t activity;  // of this node, when it asked for the token (kUnsettled: not known)
  std::uint64_t notice_bytes;
};
// HandOff::kRelease: a release and a LockRelease must follow. kKept: the token rests here,
// unreleased. BarrierRole::kLast: the thread arrives for its node; the others: the round is over.
enum class HandOff : std::uint64_t { kRelease, kHandedOver, kKept, kNotHeld };
enum class BarrierRole : std::uint64_t { kLast, kLeft, kMismatched };
// Flags beside a barrier exit's number. kArrivalTaken: the other node may use the blocks that our
// arrival carried, so they are not pushed. kCameWithArrival: this node may use the blocks that came
// with the other node's arrival.
inline constexpr std::uint64_t kContributionsDiffer = 1ull << 32;
inline constexpr std::uint64_t kArrivalTaken = 1ull << 33;
inline constexpr std::uint64_t kCameWithArrival = 1ull << 34;
inline constexpr std::uint64_t kHomeFirstTouch = 1ull << 32;  // combined with directory_found()
inline constexpr std::uint64_t kHomeNowhere = 1ull << 33;     // the block is in no allocation

struct Send {
  NodeId to;
  std::uint32_t offset;
  std::uint32_t size;
  BlockRange with{};
  std::uint32_t wanted = 0;
};  // `size` bytes at `offset` of Effects::bytes. with: the host appends the bytes of these blocks
    // of ours. wanted: that many block numbers (8 bytes each) follow the message in Effects::bytes;
    // for each such block that may be sent now as to a subscriber (serve/pushes.cpp) the host
    // appends a wire::GrantedBlock
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
  bool releases = false;
};  // run sc::Pages::yield; releases: sc::Pages::yield_synchronised, by a thread that may make a
    // release
struct Place {
  BlockId block;
  Bytes bytes;
};  // store these bytes of the event's message in our memory of the block, before later effects
struct Expire {
  NodeId origin;
  WaiterId waiter;
  std::uint32_t offset;
  std::uint32_t size;
  NodeId home = kNoNode;
};  // run Hlrc::expire with these BlockRanges of Effects::bytes and the home, then step Expired
struct Offer {
  NodeId to;
  WaiterId waiter;
  BlockRange run;
  OfferWish wish;
};  // run Hlrc::offer_asked, then step OfferMade
struct Adopt {
  NodeId from;
  WaiterId waiter;
  BlockRange run;
  bool presses;
};  // run Hlrc::adopt by the thread that drops regions, then step AdoptionMade
struct ReleaseKept {
  LockId lock;
  std::uint64_t releases;
};  // an unreleased token that rests here has to leave: run Hlrc::release_kept, then step
    // LockRelease with kNobody as the waiter
struct TurnExtended {
  LockId lock;
};  // a token rests here although a node waits for it: step LockEndTurn soon
struct Malformed {
  NodeId from;
};  // close the connection to that peer

// The effects of one step. The host owns it and uses it again, so that nothing is allocated once it
// is large enough.
struct Effects {
  std::vector<std::variant<Send, Resume, Drop, Recall, Place, Expire, Offer, Adopt, ReleaseKept,
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

// The bits of a home word. Each node has one such word for each block; other nodes load it before
// they touch the bytes at the home. Zero: an untracked home, or no home at all.
inline constexpr std::uint32_t kTracked = 1;       // readers rely on notices
inline constexpr std::uint32_t kHere = 2;          // the node knows that it is the home
inline constexpr std::uint32_t kOffered = 4;       // home_in() may become the home
inline constexpr std::uint32_t kArmed = 8;         // it may do so by a swap to kMoved
inline constexpr std::uint32_t kMoved = 16;        // home_in() is the home, or is just becoming it
inline constexpr std::uint32_t kTimes = 3u << 5;   // how often this node became the home, modulo 4
inline constexpr std::uint32_t kComing = 1u << 7;  // the node is just becoming the home
inline constexpr std::uint32_t kStays = kTracked | kHere | kTimes;  // an offer leaves these bits
inline constexpr std::uint32_t word_for(NodeId node) { return node.value << 8; }
inline constexpr NodeId home_in(std::uint32_t word) { return NodeId{word >> 8}; }

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
