#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "wire/region_policy.h"

namespace terrane::wire {

using Bytes = std::span<const std::byte>;

// A message is one of the structs below and, for some kinds, a tail. Little-endian, the same layout
// on every architecture that we support; sizes are asserted, padding is explicit and zero.
enum class Kind : std::uint8_t {
  kLockRequest = 1,
  kLockForward,
  kLockGrant,
  kBarrierArrive,
  kBarrierExit,
  kRegionAllocate,
  kRegionFind,
  kRegionReply,
  kRegionFree,
  kRegionFreed,
  kRegionDrop,
  kRegionDropped,
  kPageFetch,
  kPageData,
  kFlush,
  kFlushed,
  kOwnerRequest,
  kOwnerReply,
  kSubscriptionEnd,
  kPagePush,
  kCountWake,
  kScRequest,
  kScRecall,
  kScYielded,
  kScGrant,
  kExpire,
  kExpired,
  kAtomicRequest,
  kAtomicReply,
  kLockInsert,
  kLockInserted,
  kOfferRequest,
  kOfferReply,
  kScReturned,
  kLockTry,
  kLockTryForward,
  kLockTried,
  kLockBusy,
  kLockManagerRequest,
  kLockManager,
  kAdoptRequest,
  kAdoptReply,
  kScReady,
  kNoticeRequest,
  kNoticeReply,
  kAnnounce,
  kAnnounceAnswer,
  kAnnounceEnd,
};

// Asks for a lock. kLockRequest: to the lock's manager. kLockForward: from the manager to the last
// node of the queue. kLockInsert: from the manager to the node before the last one, if the
// requester is nearer to that node: may the requester come before node `before`? kLockTry: to the
// manager, and as kLockTryForward from there to the last node of the queue: only if that node has
// the token and does not use it. Tail: `wanted` WantedBlocks, and the requester's vector timestamp,
// one u32 for each node.
struct LockRequest {
  Kind kind = Kind::kLockRequest;
  std::uint8_t wanted = 0;
  std::uint8_t pad[2] = {};
  std::uint32_t requester = 0;
  std::uint64_t lock = 0;
  std::uint32_t before = 0;
  std::uint32_t pad2 = 0;
};

// The answer to a kLockInsert, or (kLockTried) to a kLockTryForward.
struct LockInserted {
  Kind kind = Kind::kLockInserted;
  std::uint8_t accepted = 0;
  std::uint8_t pad[2] = {};
  std::uint32_t requester = 0;
  std::uint64_t lock = 0;
};

// The answer to a kLockTry: the lock is in use.
struct LockBusy {
  Kind kind = Kind::kLockBusy;
  std::uint8_t pad[7] = {};
  std::uint64_t lock = 0;
};

// kLockManagerRequest: from a cluster's agent to the lock's first manager. kLockManager: the
// answer: node `manager` has the lock's queue. If `manager` is the receiver, it has the token, too:
// no node has used the lock yet.
struct LockManagerAt {
  Kind kind = Kind::kLockManagerRequest;
  std::uint8_t pad[3] = {};
  std::uint32_t manager = 0;
  std::uint64_t lock = 0;
};

// A block that the requester will fetch as soon as it has the lock. If the node that has the token
// is `home`, it sends the block with the grant.
struct WantedBlock {
  std::uint64_t block = 0;
  std::uint32_t home = 0;
  std::uint32_t pad = 0;

  bool operator==(const WantedBlock&) const = default;
};
inline constexpr std::size_t kMostWanted = 4;

// The lock's token, from its last holder, with the count that it carries. `then`: 0, or 1 + the
// node that follows the receiver, because the receiver was inserted before it; `overtaken`: how
// often that node was overtaken. Tail: `sleepers` Sleepers and, if there are any, the count's
// vector timestamp; if `then` is not 0, that node's `wanted` WantedBlocks and its vector timestamp;
// a notice set of `notice_bytes`; and GrantedBlocks, each with its bytes.
struct LockGrant {
  Kind kind = Kind::kLockGrant;
  std::uint8_t wanted = 0;
  std::uint8_t pad[2] = {};
  std::uint32_t sleepers = 0;
  std::uint64_t lock = 0;
  std::int64_t value = 0;
  std::int64_t tickets = 0;
  std::uint32_t notice_bytes = 0;
  std::uint32_t then = 0;
  std::uint32_t overtaken = 0;
  std::uint32_t pad2 = 0;
};

// A block that comes with a lock grant or a barrier arrival. Its `bytes` bytes follow. If there are
// none, the receiver has to ask the home; or `version` is not 0, and the block is the same as in
// the last push of this version (kPagePush). With a lock grant `version` is always 0.
struct GrantedBlock {
  std::uint64_t block = 0;
  std::uint32_t home = 0;
  std::uint32_t bytes = 0;
  std::uint32_t tracked = 0;
  std::uint32_t version = 0;
};

// A thread, `waiter` of `node`, that sleeps until a count reaches `until`.
struct Sleeper {
  std::uint32_t node = 0;
  std::uint32_t waiter = 0;
  std::int64_t until = 0;
};

// To the node of a Sleeper: the count has reached `until`. Tail: a notice set.
struct CountWake {
  Kind kind = Kind::kCountWake;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
};

// An arrival up the tree (kBarrierArrive), or an exit down the tree (kBarrierExit); two nodes
// arrive at each other. Tail: `reduced` bytes of a reduction; `notices` bytes of a notice set, of
// the subtree or of all nodes; and, between two nodes, the GrantedBlocks that come with an arrival,
// each with its bytes (none if the block is gone, or the same). `plain`, `acquired`,
// `barrier_exits`: what two nodes tell each other about the order of their barrier exits
// (barrier_tree.h).
struct BarrierMessage {
  Kind kind = Kind::kBarrierArrive;
  std::uint8_t op = 0;
  std::uint8_t type = 0;
  std::uint8_t mismatched = 0;
  std::uint32_t barrier = 0;
  std::uint32_t reduced = 0;
  std::uint32_t notices = 0;
  std::uint32_t barrier_exits = 0;
  std::uint8_t plain = 0;
  std::uint8_t acquired = 0;
  std::uint8_t pad[2] = {};
};
inline constexpr std::size_t kMostWithArrival = 16;  // blocks in one arrival

// Asks node 0 for an allocation. `sequence` is 0, or counts the collective calls from 1.
struct RegionAllocate {
  Kind kind = Kind::kRegionAllocate;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  RegionPolicy policy;
  std::uint32_t sequence = 0;
  std::uint32_t pad_2 = 0;
  char name[32] = {};
};

// Asks node 0 which allocation holds the block.
struct RegionFind {
  Kind kind = Kind::kRegionFind;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
  std::uint64_t block = 0;
};

enum class RegionStatus : std::uint8_t { kOk = 0, kNoSpace, kMismatch, kUnknown };

// Node 0's answer to kRegionAllocate and kRegionFind.
struct RegionReply {
  Kind kind = Kind::kRegionReply;
  RegionStatus status = RegionStatus::kOk;
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
  std::uint64_t first = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  RegionPolicy policy;
  std::uint32_t region = 0;
  std::uint32_t pad_2 = 0;
  char name[32] = {};
};

// Asks node 0 to free the allocation that starts at `first`.
struct RegionFree {
  Kind kind = Kind::kRegionFree;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
  std::uint64_t first = 0;
};

// Node 0's answer to kRegionFree.
struct RegionFreed {
  Kind kind = Kind::kRegionFreed;
  RegionStatus status = RegionStatus::kOk;
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
};

// kRegionDrop: node 0 asks each node to drop these blocks. kRegionDropped: the answer.
struct RegionDrop {
  Kind kind = Kind::kRegionDrop;
  std::uint8_t pad[3] = {};
  std::uint32_t region = 0;
  std::uint64_t first = 0;
  std::uint64_t blocks = 0;
};

// An eager release by thread `waiter` of node `origin`: all copies of these blocks are stale. Tail:
// BlockRanges. A node of the tree whose root is `origin` sends it to its children.
// home: not 0: the block, the only one, becomes a synchronisation page with this home (its number +
// 1); each node makes a release after it has dropped its copy.
struct Expire {
  Kind kind = Kind::kExpire;
  std::uint8_t pad[3] = {};
  std::uint32_t origin = 0;
  std::uint32_t waiter = 0;
  std::uint32_t home = 0;
};

// The answer, to the parent: the sender and its subtree have dropped their copies.
struct Expired {
  Kind kind = Kind::kExpired;
  std::uint8_t pad[3] = {};
  std::uint32_t origin = 0;
  std::uint32_t waiter = 0;
};

// Why a node asks for homes: it is about to write the blocks; it has only read blocks in order; or
// their home has asked it to adopt them. kStays: the home is to stay where it is for good, because
// the block becomes a synchronisation page; the answer is whether it is there.
enum class OfferWish : std::uint8_t { kWrites, kReads, kAdopts, kStays };

// Asks a home to offer these blocks to the sender. The answer, OfferReply, says how many of them
// the home has offered.
struct OfferRequest {
  Kind kind = Kind::kOfferRequest;
  std::uint8_t wish = 0;  // OfferWish
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
  std::uint64_t first = 0;
  std::uint64_t blocks = 0;
};
inline constexpr std::uint64_t kMostOffered = 1024;  // blocks in one request
struct OfferReply {
  Kind kind = Kind::kOfferReply;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
  std::uint64_t blocks = 0;
};

// Asks a node to become the home of these blocks, whose home is the sender. It takes those that it
// has room for and that the sender then offers.
struct AdoptRequest {
  Kind kind = Kind::kAdoptRequest;
  std::uint8_t presses = 0;  // 1: the sender has hardly any memory left
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
  std::uint64_t first = 0;
  std::uint64_t blocks = 0;
};
inline constexpr std::uint64_t kMostAdopted = 256;  // blocks in one request
// `blocks`: as in the request; `taken`: how many of them moved; `room`: how much memory the new
// home has left for homes, in 64ths of its limit.
struct AdoptReply {
  Kind kind = Kind::kAdoptReply;
  std::uint8_t room = 0;
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
  std::uint32_t blocks = 0;
  std::uint32_t taken = 0;
};

// Asks a home whose memory cannot be reached for `blocks` blocks (1 to 16) from `block` on. `how`:
// bits of protocol/serve/requests.h.
struct PageFetch {
  Kind kind = Kind::kPageFetch;
  std::uint8_t blocks = 1;
  std::uint8_t how = 0;
  std::uint8_t pad = 0;
  std::uint32_t waiter = 0;
  std::uint64_t block = 0;
};

// The home's answer, with the first `blocks` of these blocks. Tail: their bytes. `tracked`: a bit
// for each block that the home tracks. `subscribed`: 0, or the number of the barrier exit from
// which on the home pushes the blocks (kPagePush). `own`: the reader is their home from now on. If
// `blocks` is 0, `subscribed` is the node to ask for the first `same_owner` of them.
struct PageData {
  Kind kind = Kind::kPageData;
  std::uint8_t blocks = 1;
  std::uint8_t own = 0;
  std::uint8_t same_owner = 0;
  std::uint32_t waiter = 0;
  std::uint64_t block = 0;
  std::uint32_t tracked = 0;
  std::uint32_t subscribed = 0;
};

// The sender, a reader, ends its subscription to this run at the receiver.
struct SubscriptionEnd {
  Kind kind = Kind::kSubscriptionEnd;
  std::uint8_t blocks = 1;
  std::uint8_t pad[6] = {};
  std::uint64_t block = 0;
};

// A push of `home`, at its barrier exit `number`. One message may have several runs, one after the
// other. Tail: `further` nodes, one u32 each, to which the receiver passes the push on. If `gone`
// is set, nothing else: the readers have to ask the home. Otherwise a version, a u32, for each
// block, and the bytes of the blocks whose bit in `same` is not set. The other blocks are the same
// as in the last push of this version.
struct PagePush {
  Kind kind = Kind::kPagePush;
  std::uint8_t blocks = 1;
  std::uint8_t gone = 0;
  std::uint8_t pad = 0;
  std::uint32_t number = 0;
  std::uint64_t block = 0;
  std::uint32_t tracked = 0;
  std::uint32_t home = 0;
  std::uint32_t further = 0;
  std::uint32_t same = 0;
};

// Differences for a home whose memory cannot be reached. Tail: for each block a FlushedBlock and
// its difference (platform/diff.h), which is a multiple of 8 bytes. A former home passes a
// difference on to the new one in a message of its own, with `was_passed` set. Node `origin` made
// the differences. If homes look for races, the vector timestamp of `origin` (4 bytes for each
// node) comes before the first FlushedBlock. Each receiver answers it by kFlushed when it has
// applied all those that it did not pass on; `passed` counts the others.
struct Flush {
  Kind kind = Kind::kFlush;
  std::uint8_t was_passed = 0;
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
  std::uint32_t origin = 0;
  std::uint32_t passed = 0;
};
// `via`: the former home whose home word names the receiver, or 0xffffffff.
struct FlushedBlock {
  std::uint64_t block = 0;
  std::uint32_t diff_bytes = 0;
  std::uint32_t via = 0xffffffff;
};

// An atomic operation for a home whose memory cannot be reached (protocol/steps/atomic.h). `via`:
// as in FlushedBlock.
struct AtomicRequest {
  Kind kind = Kind::kAtomicRequest;
  std::uint8_t operation = 0;
  std::uint8_t size = 8;
  std::uint8_t pad = 0;
  std::uint32_t waiter = 0;
  std::uint64_t block = 0;
  std::uint32_t offset = 0;
  std::uint32_t via = 0xffffffff;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
};

// The answer. `done`: the operation was performed, and `before` is what the word was. Otherwise
// `ask` is the node to ask, or 0xffffffff: the requester looks for the home from the start.
struct AtomicReply {
  Kind kind = Kind::kAtomicReply;
  std::uint8_t done = 0;
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
  std::uint64_t block = 0;
  std::uint64_t before = 0;
  std::uint32_t ask = 0;
  std::uint32_t pad2 = 0;
};

// Asks the directory node of `block` for its owner. `claim`: 0, or 1 + the node that claims the
// block if it has no owner, and also the blocks that follow it, `blocks` in all, up to the first
// that has another owner.
struct OwnerRequest {
  Kind kind = Kind::kOwnerRequest;
  std::uint8_t blocks = 1;
  std::uint8_t pad[2] = {};
  std::uint32_t waiter = 0;
  std::uint64_t block = 0;
  std::uint32_t claim = 0;
  std::uint32_t pad2 = 0;
};

// The answer. `owner`: 1 + the owner, or 0. `same_owner`: how many blocks from this one on have the
// same owner in this directory.
struct OwnerReply {
  Kind kind = Kind::kOwnerReply;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
  std::uint64_t block = 0;
  std::uint32_t owner = 0;
  std::uint32_t same_owner = 0;
};

// A page with sequential consistency (protocol/sc). To its home: the sender wants the page
// (kScRequest), has given up what was recalled (kScYielded), or gives the page back without a
// recall (kScReturned). From its home: the receiver has to give the page up (kScRecall), or gets it
// (kScGrant). `access`: 1 to read, 2 to write; in recalls and yields the access that stays, 0 or 1.
// `wrote`: the page was writable until now, and its bytes are at the home. `carries`: the tail is
// the page's bytes, because the home's memory cannot be reached.
//
// Of a synchronisation page: the receiver of a grant acquires what node `writer` - 1 had released
// when it last gave up the page. In a grant, in the yield of a page that was written, and in
// kScReady, by which a new page's first holder tells the home that all nodes have dropped their
// copies, the tail begins with that node's vector timestamp. `writer` is 0 elsewhere.
struct ScMessage {
  Kind kind = Kind::kScRequest;
  std::uint8_t access = 0;
  std::uint8_t wrote = 0;
  std::uint8_t carries = 0;
  std::uint32_t writer = 0;
  std::uint64_t block = 0;
};

// Asks a node for the intervals that it knows and the sender does not. Tail: the sender's vector
// timestamp. `waiter`: the sender's thread. The answer's tail is a notice set.
struct NoticeRequest {
  Kind kind = Kind::kNoticeRequest;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
};
struct NoticeReply {
  Kind kind = Kind::kNoticeReply;
  std::uint8_t pad[3] = {};
  std::uint32_t waiter = 0;
};

// A fence of the sender's node: all intervals that it knows and of which it does not know that all
// nodes have heard. Tail: its vector timestamp, and a notice set. If `counted` is 1, the sender has
// counted it where all nodes see the count. Otherwise the receiver answers at once; where there are
// more than two nodes, kAnnounceEnd says that all have answered; and one such announcement of a
// node is under way at a time.
struct Announce {
  Kind kind = Kind::kAnnounce;
  std::uint8_t counted = 0;
  std::uint8_t pad[2] = {};
};
struct AnnounceAnswer {
  Kind kind = Kind::kAnnounceAnswer;
  std::uint8_t sees_count = 0;  // 1: the sender sees the count of the node that it answers
  std::uint8_t pad[2] = {};
};
struct AnnounceEnd {
  Kind kind = Kind::kAnnounceEnd;
  std::uint8_t pad[3] = {};
};

static_assert(sizeof(Announce) == 4);
static_assert(sizeof(AnnounceAnswer) == 4);
static_assert(sizeof(AnnounceEnd) == 4);
static_assert(sizeof(NoticeRequest) == 8);
static_assert(sizeof(NoticeReply) == 8);
static_assert(sizeof(ScMessage) == 16);
static_assert(sizeof(AtomicRequest) == 40);
static_assert(sizeof(AtomicReply) == 32);
static_assert(sizeof(Expire) == 16);
static_assert(sizeof(Expired) == 12);
static_assert(sizeof(OfferRequest) == 24);
static_assert(sizeof(OfferReply) == 16);
static_assert(sizeof(SubscriptionEnd) == 16);
static_assert(sizeof(PageFetch) == 16);
static_assert(sizeof(PageData) == 24);
static_assert(sizeof(PagePush) == 32);
static_assert(sizeof(Flush) == 16);
static_assert(sizeof(FlushedBlock) == 16);
static_assert(sizeof(OwnerRequest) == 24);
static_assert(sizeof(OwnerReply) == 24);
static_assert(sizeof(LockRequest) == 24);
static_assert(sizeof(LockInserted) == 16);
static_assert(sizeof(LockBusy) == 16);
static_assert(sizeof(WantedBlock) == 16);
static_assert(sizeof(LockGrant) == 48);
static_assert(sizeof(GrantedBlock) == 24);
static_assert(sizeof(Sleeper) == 16);
static_assert(sizeof(CountWake) == 8);
static_assert(sizeof(BarrierMessage) == 24);
static_assert(sizeof(RegionAllocate) == 72);
static_assert(sizeof(RegionFind) == 16);
static_assert(sizeof(RegionReply) == 80);
static_assert(sizeof(RegionFree) == 16);
static_assert(sizeof(RegionFreed) == 8);
static_assert(sizeof(RegionDrop) == 24);

// Reads a struct from the front of `bytes` and moves `bytes` on; false when it is too short.
template <typename T>
bool take(Bytes& bytes, T& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() < sizeof(T)) return false;
  std::memcpy(static_cast<void*>(&out), bytes.data(), sizeof(T));
  bytes = bytes.subspan(sizeof(T));
  return true;
}

template <typename T>
void put(std::vector<std::byte>& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

}  // namespace terrane::wire
