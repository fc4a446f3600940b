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

// One-sided steps of an operation, a struct each: its fields, and as `result`, where there is one,
// what the host answers. Each is performed alone; other threads and nodes act between any two of
// them. CONTRIBUTING.md says what a new one touches.
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

struct PushPart;

// ---- of the node's threads, and its core

// Nothing: a place where others may act between two touches of what a node's threads share.
struct Pause {
  static constexpr std::string_view kName = "Pause";
  bool yields = false;  // somebody else has to act before this thread can go on
};
// Until *word != value.
struct Wait {
  static constexpr std::string_view kName = "Wait";
  std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t value = 0;
};
// The threads that wait on the word.
struct Wake {
  static constexpr std::string_view kName = "Wake";
  std::atomic<std::uint32_t>* word = nullptr;
};
// The event goes to the core; until the waiter is resumed. Result: its value; the bytes that came
// with it are Strand::take_answer().
struct Call {
  static constexpr std::string_view kName = "Call";
  const Event* event = nullptr;
  std::uint64_t result = 0;
};
// The event goes to the core; no waiting.
struct Tell {
  static constexpr std::string_view kName = "Tell";
  const Event* event = nullptr;
};
// The in-memory barrier of this number, until its round is over. `told`: this node has nothing to
// tell, and has learned so many departures. `gives`: what node 0 tells all with it; `takes`: where
// that goes at each node, which has to be empty. Result: whether the round was held; a thread that
// has waited for long withdraws.
struct Meet {
  static constexpr std::string_view kName = "Meet";
  std::uint32_t barrier = 0;
  std::optional<std::uint32_t> told{};
  Bytes gives{};
  std::vector<std::byte>* takes = nullptr;
  bool result = false;
};

// Until all other nodes have come to the in-memory barrier of this number, to which this node,
// which has learned so many departures (`told`), has not come. Result: whether they have, with
// nothing to tell; else the barrier goes by messages. A thread that has waited for long decides
// that.
struct Gather {
  static constexpr std::string_view kName = "Gather";
  std::uint32_t barrier = 0;
  std::uint32_t told = 0;
  bool result = false;
};

// ---- words that others reach

// The node's home word of the block.
struct LoadWord {
  static constexpr std::string_view kName = "LoadWord";
  NodeId node;
  BlockId block;
  std::uint32_t result = 0;
};
// Our own home word of the block.
struct StoreWord {
  static constexpr std::string_view kName = "StoreWord";
  BlockId block;
  std::uint32_t word = 0;
};
// The node's, compare-and-swap. Result: whether the word was `expected`.
struct SwapWord {
  static constexpr std::string_view kName = "SwapWord";
  NodeId node;
  BlockId block;
  std::uint32_t expected = 0;
  std::uint32_t desired = 0;
  bool result = false;
};
// A thread of ours begins to store at homes, or has ended. Others see it.
struct CountFlush {
  static constexpr std::string_view kName = "CountFlush";
  bool begins = false;
};
// Result: how many threads of the node are between the two.
struct LoadFlushing {
  static constexpr std::string_view kName = "LoadFlushing";
  NodeId node;
  std::uint32_t result = 0;
};
// A thread of ours begins to copy a block for a node that takes its home by a fetch, before the
// word is swapped; or has ended.
struct CountGiving {
  static constexpr std::string_view kName = "CountGiving";
  bool begins = false;
};
// Result: how many threads of ours are between the two.
struct LoadGiving {
  static constexpr std::string_view kName = "LoadGiving";
  std::uint32_t result = 0;
};
// At the node: a reader without tracking wants the block. Result: that was set already.
struct SetWanted {
  static constexpr std::string_view kName = "SetWanted";
  NodeId node;
  BlockId block;
  bool result = false;
};
// Ours are taken, and appended to `runs`.
struct TakeWanted {
  static constexpr std::string_view kName = "TakeWanted";
  std::vector<BlockRange>* runs = nullptr;
};
// A directory's entry of a block: its owner + 1, or 0; and for how many blocks from this one on it
// is true, as far as that was looked at.
struct Owner {
  std::uint32_t entry = 0;
  std::uint32_t same = 0;
};
// The node's directory: its entry of the block.
struct LoadOwner {
  static constexpr std::string_view kName = "LoadOwner";
  NodeId node;
  BlockId block;
  Owner result{};
};
// The same, compare-and-swap 0 -> `entry`; of several blocks, which that directory keeps, until one
// is another's. Result: of the first one, afterwards.
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
// Our own directory's entry of the block.
struct ClearOwner {
  static constexpr std::string_view kName = "ClearOwner";
  BlockId block;
};

// ---- memory, and the application view. Ranges need not be atomic.

// Backs our blocks with zeroed memory where they have none. Result: false when memory is short.
struct Populate {
  static constexpr std::string_view kName = "Populate";
  BlockRange blocks;
  bool result = true;
};
// The same of the node's copy of one block.
struct PopulateAt {
  static constexpr std::string_view kName = "PopulateAt";
  NodeId node;
  BlockId block;
  bool result = true;
};
// The application view sees the blocks: kRead protected, kWrite free. An entry that exists stays.
struct Map {
  static constexpr std::string_view kName = "Map";
  BlockRange blocks;
  Access access = Access::kRead;
};
// The next write to the blocks is detected.
struct Protect {
  static constexpr std::string_view kName = "Protect";
  BlockRange blocks;
};
// Writes to the blocks pass.
struct Unprotect {
  static constexpr std::string_view kName = "Unprotect";
  BlockRange blocks;
};
// The blocks leave the application view; their data stay.
struct Zap {
  static constexpr std::string_view kName = "Zap";
  BlockRange blocks;
};
// Appends the runs written since they were protected, and protects them (detection by scan).
struct Scan {
  static constexpr std::string_view kName = "Scan";
  BlockRange blocks;
  std::vector<BlockRange>* runs = nullptr;
};
// The same of all that lies in the blocks, copies and homes or not, but protects nothing.
struct Look {
  static constexpr std::string_view kName = "Look";
  BlockRange blocks;
  std::vector<BlockRange>* runs = nullptr;
};
// The memory of the blocks and their twins goes back to the machine; they read as zeros.
struct Punch {
  static constexpr std::string_view kName = "Punch";
  BlockRange blocks;
  bool evicts = true;  // else they were no copies any more
};
// The memory of the blocks' twins alone.
struct DropTwin {
  static constexpr std::string_view kName = "DropTwin";
  BlockRange blocks;
};

// ---- bytes. None of these is atomic.

// The node's copy of the blocks -> ours or, where `slot` is given, to the staging buffer from that
// block on.
struct CopyHome {
  static constexpr std::string_view kName = "CopyHome";
  NodeId node;
  BlockRange blocks;
  std::optional<std::uint64_t> slot{};
};
// Our block -> its twin. (`home`: a planted fault takes it from there.)
struct CopyTwin {
  static constexpr std::string_view kName = "CopyTwin";
  BlockId block;
  NodeId home = kNoNode;
};
// The bytes of our block that differ from its twin -> the node's copy, and the twin if it follows.
// Result: how many.
struct StoreDiff {
  static constexpr std::string_view kName = "StoreDiff";
  NodeId node;
  BlockId block;
  bool twin_follows = false;
  std::uint64_t result = 0;
};
// The same, but the bytes are only on their way to the node afterwards. via: by whose word they go
// there, or kNoNode.
struct PostDiff {
  static constexpr std::string_view kName = "PostDiff";
  NodeId node;
  BlockId block;
  NodeId via;
  bool twin_follows = false;
  std::uint64_t result = 0;
};
// Until everything that this strand posted is at its homes.
struct AwaitFlush {
  static constexpr std::string_view kName = "AwaitFlush";
};
// Our block -> the node's copy.
struct StoreHome {
  static constexpr std::string_view kName = "StoreHome";
  NodeId node;
  BlockId block;
};
// A block of the staging buffer -> ours. merges: the bytes that differ from our twin alone, to our
// block and the twin.
struct Merge {
  static constexpr std::string_view kName = "Merge";
  BlockId block;
  std::uint64_t slot = 0;
  bool merges = false;
  bool unused = false;  // no thread has used what the last refresh fetched
};
// The operation on the node's copy of the block. Result: what the word was.
struct PerformAtomic {
  static constexpr std::string_view kName = "PerformAtomic";
  NodeId node;
  BlockId block;
  AtomicOp op;
  std::uint64_t result = 0;
};
// What an operation left of `before` -> our block, and its twin.
struct Patch {
  static constexpr std::string_view kName = "Patch";
  BlockId block;
  AtomicOp op;
  std::uint64_t before = 0;
  bool twin_follows = false;
};

// ---- exchanges with a node whose memory cannot be reached

// What a reader tells the home with a fetch: another home sent it here; it may take what is offered
// to it; it will want so many of the first blocks again at coming departures.
struct FetchWish {
  bool follows = false;
  bool may_take = false;
  std::uint32_t again = 0;
};
// The first blocks of a run that came, a bit for each that is tracked; whether they are ours from
// now on; and what the home promises (subscribers.h). None: the node to ask, for so many blocks.
struct FetchResult {
  std::uint32_t count = 0;
  std::uint32_t tracked = 0;
  bool own = false;
  std::uint32_t subscribed = 0;
  NodeId ask{};
  std::uint32_t same = 0;
};
// For each of the blocks: the home word; unless tracked, the block is wanted; then the node's copy
// -> ours, or to the staging buffer; as far as the words allow, and the blocks are alike.
struct Fetch {
  static constexpr std::string_view kName = "Fetch";
  NodeId node;
  BlockRange blocks;
  FetchWish wish{};
  bool stages = false;
  FetchResult result{};
};
// The same is asked for; a Fetch of the same blocks of the same node, which has to follow, waits
// for it. The home answers at any time in between.
struct PostFetch {
  static constexpr std::string_view kName = "PostFetch";
  static constexpr std::uint32_t kMost = 3;  // under way at once, of one strand
  NodeId node;
  BlockRange blocks;
  FetchWish wish{};
  bool stages = false;
};
// What a home answers to an atomic operation: what the word was; or that the block is just moving,
// and all has to begin anew; or the node to ask.
struct AtomicAnswer {
  enum class What : std::uint8_t { kDone, kNotYet, kElsewhere };
  What what = What::kNotYet;
  std::uint64_t before = 0;
  NodeId ask{};
};
// PerformAtomic in one exchange. via: by whose word it comes, or kNoNode.
struct AskAtomic {
  static constexpr std::string_view kName = "AskAtomic";
  NodeId node;
  BlockId block;
  AtomicOp op;
  NodeId via;
  AtomicAnswer result{};
};

// ---- pushes

// What a push brought: a bit for each tracked block, and one for each that has not come, since it
// is the same as what came by its version before. Or nothing: the home has to be asked.
struct TakenPush {
  bool gone = false;
  std::uint32_t tracked = 0;
  std::uint32_t same = 0;
};
// What the node sent of the blocks at this departure -> the staging buffer, once it is here; and
// the versions.
struct TakePush {
  static constexpr std::string_view kName = "TakePush";
  NodeId node;
  BlockRange blocks;
  std::uint32_t departure = 0;
  std::vector<std::uint32_t>* versions = nullptr;
  TakenPush result{};
};
// What was sent to us at departures up to this one.
struct ForgetPushes {
  static constexpr std::string_view kName = "ForgetPushes";
  std::uint32_t departure = 0;
};
// The node need not send us the blocks any more; no waiting. Known there before what we ask it for
// afterwards.
struct EndSubscription {
  static constexpr std::string_view kName = "EndSubscription";
  NodeId node;
  BlockRange blocks;
};
// The bytes of one block that came with a grant or an arrival -> the staging buffer.
struct TakeGranted {
  static constexpr std::string_view kName = "TakeGranted";
  BlockId block;
  const std::byte* bytes = nullptr;
  std::uint64_t slot = 0;
};

// ---- what a node does for others (protocol/serve)

// Room for the bytes of so many blocks on their way out, the strand's until it asks again.
struct SendBuffer {
  static constexpr std::string_view kName = "SendBuffer";
  std::uint64_t blocks = 0;
  std::byte* result = nullptr;
};
// Our block -> `to`. Not atomic.
struct ReadBlock {
  static constexpr std::string_view kName = "ReadBlock";
  BlockId block;
  std::byte* to = nullptr;
};
// The bytes that a posted difference names -> our block. Not atomic. Result: whether it is well
// formed.
struct ApplyDiff {
  static constexpr std::string_view kName = "ApplyDiff";
  BlockId block;
  Bytes diff;
  bool result = false;
};
// A message to the node, or where that is this node at once to itself. Result: whether this node
// has taken its own.
struct SendMessage {
  static constexpr std::string_view kName = "SendMessage";
  NodeId to;
  Bytes head;
  Bytes tail{};
  bool result = true;
};
// A push joins what is collected for the node, which passes it on to `further`.
struct SendPush {
  static constexpr std::string_view kName = "SendPush";
  const PushPart* part = nullptr;
  NodeId to;
  std::span<const NodeId> further;
};
// What is collected goes.
struct SendPushes {
  static constexpr std::string_view kName = "SendPushes";
};
// A push that has come is kept for TakePush. Result: whether there is room.
struct KeepPush {
  static constexpr std::string_view kName = "KeepPush";
  const PushPart* part = nullptr;
  bool result = false;
};

using Step =
    std::variant<Pause, Wait, Wake, Call, Tell, Meet, Gather, LoadWord, StoreWord, SwapWord,
                 CountFlush, LoadFlushing, CountGiving, LoadGiving, SetWanted, TakeWanted,
                 LoadOwner, ClaimOwner, CountOwned, ClearOwner, Populate, PopulateAt, Map, Protect,
                 Unprotect, Zap, Scan, Look, Punch, DropTwin, CopyHome, CopyTwin, StoreDiff,
                 PostDiff, AwaitFlush, StoreHome, Merge, PerformAtomic, Patch, Fetch, PostFetch,
                 AskAtomic, TakePush, ForgetPushes, EndSubscription, TakeGranted, SendBuffer,
                 ReadBlock, ApplyDiff, SendMessage, SendPush, SendPushes, KeepPush>;

// The place of a kind in Step.
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
