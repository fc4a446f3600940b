#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "protocol/steps/atomic.h"
#include "protocol/steps/effects.h"

// Steps of an operation, a struct each: its fields are what the operation asks for, and `result`,
// where there is one, is what the host answers. The host performs each step alone; other threads
// and nodes act between any two of them. CONTRIBUTING.md says what a new step touches.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

struct PushPart;

// ---- of the node's threads, and its core

// Does nothing. A place where others may act between two accesses to what a node's threads share.
struct Pause {
  static constexpr std::string_view kName = "Pause";
  bool yields = false;  // another thread has to act before this one can go on
};
// Waits until *word != value.
struct Wait {
  static constexpr std::string_view kName = "Wait";
  std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t value = 0;
};
// Wakes the threads that wait on the word.
struct Wake {
  static constexpr std::string_view kName = "Wake";
  std::atomic<std::uint32_t>* word = nullptr;
};
// Passes the event to the core, and waits until the core resumes the waiter. Result: the value of
// the Resume; Strand::take_answer() has the bytes that came with it.
struct Call {
  static constexpr std::string_view kName = "Call";
  const Event* event = nullptr;
  std::uint64_t result = 0;
};
// Passes the event to the core, without waiting.
struct Tell {
  static constexpr std::string_view kName = "Tell";
  const Event* event = nullptr;
};
// Arrives at the in-memory barrier of this number and waits until its round is over. `told`: the
// number of barrier exits whose notices this node has learned; empty if it has something to report.
// `gives`: what node 0 broadcasts with the round. `takes`: where each node puts that; empty before.
// Result: whether the round was held. A thread that has waited for long withdraws.
struct ArriveInMemory {
  static constexpr std::string_view kName = "ArriveInMemory";
  std::uint32_t barrier = 0;
  std::optional<std::uint32_t> told{};
  Bytes gives{};
  std::vector<std::byte>* takes = nullptr;
  bool result = false;
};

// Waits until all other nodes have arrived at the in-memory barrier of this number. This node
// itself has not; `told` is the number of barrier exits whose notices it has learned. Result: true
// if all have arrived with nothing to report; false: the barrier goes by messages. After a long
// wait the thread itself decides that it does.
struct Gather {
  static constexpr std::string_view kName = "Gather";
  std::uint32_t barrier = 0;
  std::uint32_t told = 0;
  bool result = false;
};

// ---- words that other nodes reach

// Loads the node's home word of the block.
struct LoadWord {
  static constexpr std::string_view kName = "LoadWord";
  NodeId node;
  BlockId block;
  std::uint32_t result = 0;
};
// Stores our own home word of the block.
struct StoreWord {
  static constexpr std::string_view kName = "StoreWord";
  BlockId block;
  std::uint32_t word = 0;
};
// Compare-and-swap on the node's home word. Result: whether the word was `expected`.
struct SwapWord {
  static constexpr std::string_view kName = "SwapWord";
  NodeId node;
  BlockId block;
  std::uint32_t expected = 0;
  std::uint32_t desired = 0;
  bool result = false;
};
// A thread of this node begins to store at homes, or has finished (`begins` false). Other nodes can
// see the count of such threads.
struct CountFlush {
  static constexpr std::string_view kName = "CountFlush";
  bool begins = false;
};
// Result: how many threads of the node are storing at homes now (CountFlush).
struct LoadFlushing {
  static constexpr std::string_view kName = "LoadFlushing";
  NodeId node;
  std::uint32_t result = 0;
};
// A thread of this node begins to copy a block for a node that takes its home by a fetch, before
// the home word is swapped; or has finished.
struct CountGiving {
  static constexpr std::string_view kName = "CountGiving";
  bool begins = false;
};
// Result: how many threads of this node are copying so (CountGiving).
struct LoadGiving {
  static constexpr std::string_view kName = "LoadGiving";
  std::uint32_t result = 0;
};
// Sets "wanted" at the node: a reader would like the block to be tracked. Result: whether it was
// set already.
struct SetWanted {
  static constexpr std::string_view kName = "SetWanted";
  NodeId node;
  BlockId block;
  bool result = false;
};
// Takes the "wanted" marks of this node, and appends their blocks to `runs`.
struct TakeWanted {
  static constexpr std::string_view kName = "TakeWanted";
  std::vector<BlockRange>* runs = nullptr;
};
// A directory's entry of a block: its owner + 1, or 0. `same`: for how many blocks from this one on
// the entry is known to be the same.
struct Owner {
  std::uint32_t entry = 0;
  std::uint32_t same = 0;
};
// Loads the entry of the block in the node's directory.
struct LoadOwner {
  static constexpr std::string_view kName = "LoadOwner";
  NodeId node;
  BlockId block;
  Owner result{};
};
// Compare-and-swap 0 -> `entry` in the node's directory, for each of the blocks in order, which
// this directory keeps, until one has another owner. Result: the entry of the first block
// afterwards.
struct ClaimOwner {
  static constexpr std::string_view kName = "ClaimOwner";
  NodeId node;
  BlockRange blocks;
  std::uint32_t entry = 0;
  Owner result{};
};
// Result: how many of the blocks, from the first one on, have this entry in our directory.
struct CountOwned {
  static constexpr std::string_view kName = "CountOwned";
  BlockRange blocks;
  std::uint32_t entry = 0;
  std::uint64_t result = 0;
};
// Clears the block's entry in our own directory.
struct ClearOwner {
  static constexpr std::string_view kName = "ClearOwner";
  BlockId block;
};

// ---- memory, and the application view. Steps on ranges need not be atomic.

// Gives those of our blocks that have no memory zeroed memory. Result: false if memory is short.
struct Populate {
  static constexpr std::string_view kName = "Populate";
  BlockRange blocks;
  bool result = true;
};
// The same for one block in the node's memory.
struct PopulateAt {
  static constexpr std::string_view kName = "PopulateAt";
  NodeId node;
  BlockId block;
  bool result = true;
};
// Enters the blocks into the application view: kRead protected, kWrite unprotected. An entry that
// exists stays as it is.
struct Map {
  static constexpr std::string_view kName = "Map";
  BlockRange blocks;
  Access access = Access::kRead;
};
// Enters blocks again that may have lost their entries: the machine removes entries at any time,
// but keeps their protection. With detection by scan, an unprotected entry that was removed may
// have been written, and enters unprotected. All others enter protected.
struct Remap {
  static constexpr std::string_view kName = "Remap";
  BlockRange blocks;
};
// Protects the blocks, so that the next write to each is detected.
struct Protect {
  static constexpr std::string_view kName = "Protect";
  BlockRange blocks;
};
// Ends the protection of the blocks.
struct Unprotect {
  static constexpr std::string_view kName = "Unprotect";
  BlockRange blocks;
};
// Lets the application view read the blocks. The next store to each faults, also where others are
// found by scan: until Map{kWrite}, Unprotect or Zap.
struct Share {
  static constexpr std::string_view kName = "Share";
  BlockRange blocks;
};
// Removes the blocks from the application view; their bytes stay.
struct Zap {
  static constexpr std::string_view kName = "Zap";
  BlockRange blocks;
};
// Appends the runs that were written since they were protected, and protects them again (detection
// by scan).
struct Scan {
  static constexpr std::string_view kName = "Scan";
  BlockRange blocks;
  std::vector<BlockRange>* runs = nullptr;
};
// Appends the same for all blocks in the range, copies and homes or not, but protects nothing.
struct Look {
  static constexpr std::string_view kName = "Look";
  BlockRange blocks;
  std::vector<BlockRange>* runs = nullptr;
};
// Gives the memory of the blocks and their twins back to the machine; they read as zeros.
struct Punch {
  static constexpr std::string_view kName = "Punch";
  BlockRange blocks;
  bool evicts = true;  // false: the blocks were no copies any more
};
// Gives back the memory of the blocks' twins only.
struct DropTwin {
  static constexpr std::string_view kName = "DropTwin";
  BlockRange blocks;
};

// ---- bytes. None of these is atomic.

// Copies the bytes of the blocks from the node's memory to ours or, if `slot` is given, to the
// staging buffer from that block on.
struct CopyHome {
  static constexpr std::string_view kName = "CopyHome";
  NodeId node;
  BlockRange blocks;
  std::optional<std::uint64_t> slot{};
};
// Copies our block to its twin. (`home`: a planted fault copies from there.)
struct CopyTwin {
  static constexpr std::string_view kName = "CopyTwin";
  BlockId block;
  NodeId home = kNoNode;
};
// Stores the bytes of our block that differ from its twin in the node's memory and, with
// twin_follows, in the twin. Result: their number.
struct StoreDiff {
  static constexpr std::string_view kName = "StoreDiff";
  NodeId node;
  BlockId block;
  bool twin_follows = false;
  std::uint64_t result = 0;
};
// Sends these bytes to the node; they arrive later (AwaitFlush). via: the former home whose word
// named the node, or kNoNode.
struct PostDiff {
  static constexpr std::string_view kName = "PostDiff";
  NodeId node;
  BlockId block;
  NodeId via;
  bool twin_follows = false;
  std::span<const std::uint32_t> known{};  // our vector timestamp, if homes look for races
  std::uint64_t result = 0;
};
// If homes look for races: finds the bytes of our home block that differ from its twin, and tells
// RaceCheck of them; the twin follows. Atomic beside CopyTwin, ApplyDiff and PerformAtomic of the
// same block. Result: their number.
struct CompareHome {
  static constexpr std::string_view kName = "CompareHome";
  BlockId block;
  std::span<const std::uint32_t> known;  // our vector timestamp
  std::uint64_t result = 0;
};
// If accesses are looked at: what this node's threads have accessed so far belongs to the interval
// that is about to be closed. Result: a block of it that has left no protocol (synchronises()), or
// kNone if there is none.
struct CloseAccesses {
  static constexpr std::string_view kName = "CloseAccesses";
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::span<const std::uint32_t> known;  // our vector timestamp
  std::uint64_t result = kNone;
};
// Waits until all that this strand posted has arrived at its homes.
struct AwaitFlush {
  static constexpr std::string_view kName = "AwaitFlush";
};
// Copies our whole block to the node's memory.
struct StoreHome {
  static constexpr std::string_view kName = "StoreHome";
  NodeId node;
  BlockId block;
};
// Copies a block of the staging buffer to ours. merges: only the bytes that differ from our twin,
// to our block and to the twin.
struct Merge {
  static constexpr std::string_view kName = "Merge";
  BlockId block;
  std::uint64_t slot = 0;
  bool merges = false;
  bool unused = false;  // no thread has used what the last refresh fetched
};
// Performs the operation on the node's copy of the block. Result: the word before it.
struct PerformAtomic {
  static constexpr std::string_view kName = "PerformAtomic";
  NodeId node;
  BlockId block;
  AtomicOp op;
  std::uint64_t result = 0;
};
// Writes the result of an operation on `before` to our block and, with twin_follows, to its twin.
struct Patch {
  static constexpr std::string_view kName = "Patch";
  BlockId block;
  AtomicOp op;
  std::uint64_t before = 0;
  bool twin_follows = false;
};

// ---- exchanges with a node whose memory cannot be reached

// What a reader says to the home in a fetch. follows: another home sent the reader here; may_take:
// the reader may take homes that are offered to it; again: it will want that many of the first
// blocks again at the next barrier exits.
struct FetchWish {
  bool follows = false;
  bool may_take = false;
  std::uint32_t again = 0;
};
// What a fetch got: `count` blocks from the first one on; in `tracked` a bit for each that is
// tracked; own: this node is their home from now on; subscribed: for how many of them the home
// accepted a subscription (subscribers.h). If count is 0: `ask` is the node to ask, for `same`
// blocks.
struct FetchResult {
  std::uint32_t count = 0;
  std::uint32_t tracked = 0;
  bool own = false;
  std::uint32_t subscribed = 0;
  NodeId ask{};
  std::uint32_t same = 0;
};
// For each of the blocks: loads the home word; sets "wanted" unless the block is tracked; copies
// the node's bytes to our block or, with stages, to the staging buffer. Ends at the first block
// that the words do not allow, or that has another answer than the first one.
struct Fetch {
  static constexpr std::string_view kName = "Fetch";
  NodeId node;
  BlockRange blocks;
  FetchWish wish{};
  bool stages = false;
  FetchResult result{};
};
// Sends the request for a Fetch. A Fetch of the same blocks from the same node has to follow, and
// waits for the answer. The home answers at any time in between.
struct PostFetch {
  static constexpr std::string_view kName = "PostFetch";
  static constexpr std::uint32_t kMost = 3;  // requests of one strand under way at once
  NodeId node;
  BlockRange blocks;
  FetchWish wish{};
  bool stages = false;
};
// What a home answers to an atomic operation: kDone: `before` is what the word was; kNotYet: the
// block is just moving, start again; kElsewhere: ask the node `ask`.
struct AtomicAnswer {
  enum class What : std::uint8_t { kDone, kNotYet, kElsewhere };
  What what = What::kNotYet;
  std::uint64_t before = 0;
  NodeId ask{};
};
// PerformAtomic in one exchange of messages. via: the former home whose word named the node, or
// kNoNode.
struct AskAtomic {
  static constexpr std::string_view kName = "AskAtomic";
  NodeId node;
  BlockId block;
  AtomicOp op;
  NodeId via;
  AtomicAnswer result{};
};

// ---- pushes

// What came with a push: in `tracked` a bit for each tracked block; in `same` a bit for each block
// that came without bytes: they are those of the version in TakePush::versions. gone: the push has
// no bytes; the home has to be asked.
struct TakenPush {
  bool gone = false;
  std::uint32_t tracked = 0;
  std::uint32_t same = 0;
};
// Waits for the push of these blocks that the node sends at this barrier exit; copies their bytes
// to the staging buffer, and their versions to `versions`.
struct TakePush {
  static constexpr std::string_view kName = "TakePush";
  NodeId node;
  BlockRange blocks;
  std::uint32_t barrier_exit = 0;
  std::vector<std::uint32_t>* versions = nullptr;
  TakenPush result{};
};
// Forgets the pushes that came to us with barrier exits up to this one.
struct ForgetPushes {
  static constexpr std::string_view kName = "ForgetPushes";
  std::uint32_t barrier_exit = 0;
};
// Ends the subscription to these blocks at the node; without waiting. The node learns it before any
// later request of ours.
struct EndSubscription {
  static constexpr std::string_view kName = "EndSubscription";
  NodeId node;
  BlockRange blocks;
};
// Copies the bytes of one block that came with a grant or an arrival to the staging buffer.
struct TakeGranted {
  static constexpr std::string_view kName = "TakeGranted";
  BlockId block;
  const std::byte* bytes = nullptr;
  std::uint64_t slot = 0;
};

// ---- what a node does for other nodes (protocol/serve)

// Room for the bytes of that many blocks that are to be sent. The strand owns it until it asks
// again.
struct SendBuffer {
  static constexpr std::string_view kName = "SendBuffer";
  std::uint64_t blocks = 0;
  std::byte* result = nullptr;
};
// Copies our block to `to`. Not atomic.
struct ReadBlock {
  static constexpr std::string_view kName = "ReadBlock";
  BlockId block;
  std::byte* to = nullptr;
};
// Stores the bytes of a posted difference in our block. Not atomic. Result: whether the difference
// is well formed.
struct ApplyDiff {
  static constexpr std::string_view kName = "ApplyDiff";
  BlockId block;
  Bytes diff;
  // If homes look for races: whose difference it is, and the vector timestamp of that node.
  NodeId writer = kNoNode;
  std::span<const std::uint32_t> known{};
  bool result = false;
};
// Sends a message to the node. If that is this node, it takes the message at once. Result: whether
// it did so successfully.
struct SendMessage {
  static constexpr std::string_view kName = "SendMessage";
  NodeId to;
  Bytes head;
  Bytes tail{};
  bool result = true;
};
// Adds a push to those that are collected for the node. The node passes it on to `further`.
struct SendPush {
  static constexpr std::string_view kName = "SendPush";
  const PushPart* part = nullptr;
  NodeId to;
  std::span<const NodeId> further;
};
// Sends the collected pushes.
struct SendPushes {
  static constexpr std::string_view kName = "SendPushes";
};
// Keeps a push that has arrived for TakePush. Result: whether there was room.
struct KeepPush {
  static constexpr std::string_view kName = "KeepPush";
  const PushPart* part = nullptr;
  bool result = false;
};

// Counts one more announcement of this node, which is about to be sent to all nodes.
struct CountAnnounced {
  static constexpr std::string_view kName = "CountAnnounced";
};
// Result: how many announcements the node has counted (CountAnnounced), modulo 2^32.
struct LoadAnnounced {
  static constexpr std::string_view kName = "LoadAnnounced";
  NodeId node;
  std::uint32_t result = 0;
};

using Step =
    std::variant<Pause, Wait, Wake, Call, Tell, ArriveInMemory, Gather, LoadWord, StoreWord,
                 SwapWord, CountFlush, LoadFlushing, CountGiving, LoadGiving, SetWanted, TakeWanted,
                 LoadOwner, ClaimOwner, CountOwned, ClearOwner, Populate, PopulateAt, Map, Remap,
                 Protect, Unprotect, Share, Zap, Scan, Look, Punch, DropTwin, CopyHome, CopyTwin,
                 StoreDiff, PostDiff, CompareHome, CloseAccesses, AwaitFlush, StoreHome, Merge,
                 PerformAtomic, Patch, Fetch, PostFetch, AskAtomic, TakePush, ForgetPushes,
                 EndSubscription, TakeGranted, SendBuffer, ReadBlock, ApplyDiff, SendMessage,
                 SendPush, SendPushes, KeepPush, CountAnnounced, LoadAnnounced>;

// The index of a kind in Step.
template <typename Kind, std::size_t at = 0>
constexpr std::size_t find_index() {
  if constexpr (std::is_same_v<std::variant_alternative_t<at, Step>, Kind>) {
    return at;
  } else {
    return find_index<Kind, at + 1>();
  }
}
template <typename Kind>
inline constexpr std::size_t index_of = find_index<Kind>();
inline std::string_view name_of(const Step& step) {
  return std::visit([](const auto& one) { return one.kName; }, step);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
