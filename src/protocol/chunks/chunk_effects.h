#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "protocol/chunks/chunk_instrument.h"
#include "protocol/steps/effects.h"
#include "wire/chunk_message.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Slot, the epoch in which its home took it, and a number: never given twice in a job.
using ChunkId = Id<struct ChunkTag, std::uint64_t>;
inline constexpr ChunkId kNoChunk{~0ull};

inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::uint64_t kMaxChunkBytes = 1ull << 40;
inline constexpr std::uint64_t kNever = ~0ull;  // a deadline

// What a scope lets its thread do. kWrite: will write every byte; what it finds is not defined.
enum class Mode : std::uint8_t { kRead, kWrite, kReadWrite };
// kTry: answered at once where the chunk is not held, by no scope anywhere.
enum class Wait : std::uint8_t { kBlock, kTry };
// Of a copy. kExclusive: as the home has it; kModified: newer.
enum class State : std::uint8_t { kInvalid, kShared, kExclusive, kModified };
// kInvalidate: one writer or many readers, everywhere. The other two are pushed: each writing scope
// makes a version in memory of its own, which goes to all subscribers; readers look at the newest
// version that has come, while another is being written. kUpdate: the home keeps one version that
// somebody still has to get, kStream several. kOnce: as kUpdate, but only one scope writes it; a
// chunk that has been written when it becomes kOnce is not written any more.
// kWork: a work stream (WorkHome, WorkClient), of which the names' homes know name and home alone.
enum class Coherence : std::uint8_t { kInvalidate, kUpdate, kStream, kOnce, kWork };
// Where a subscriber is slow. kBlock: the writer waits, and every version comes in order. kLatest:
// versions are left out, the next to come is the newest. kDrop: so too, but with a window of its
// own. How many were left out is told; the last one always comes.
enum class Policy : std::uint8_t { kBlock, kLatest, kDrop };
inline constexpr std::uint32_t kMaxWindow = 1024;

// One of a chunk's buffers on a node: 0 for kInvalidate, which has one.
using Place = Id<struct PlaceTag, std::uint32_t>;
// The home's own buffers of a pushed chunk, beside those of the client on its node.
inline constexpr std::uint32_t kHomePlaces = 1u << 16;

// A part of a chunk's bytes; all of them unless it says otherwise. A chunk changes as a whole, but
// a writer may say where it wrote, and a subscriber which part it wants to hear of.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = ~0ull;

  bool fits(std::uint64_t all) const { return bytes > 0 && offset < all && bytes <= all - offset; }
  // As far as a chunk of so many bytes goes.
  Range within(std::uint64_t all) const {
    std::uint64_t from = offset < all ? offset : all;
    return {from, bytes < all - from ? bytes : all - from};
  }
  bool touches(const Range& other) const {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
  // The smallest that contains both.
  Range with(const Range& other) const {
    if (bytes == 0) return other;
    std::uint64_t from = offset < other.offset ? offset : other.offset;
    std::uint64_t end = offset + bytes, other_end = other.offset + other.bytes;
    return {from, (end > other_end ? end : other_end) - from};
  }
  bool operator==(const Range&) const = default;
};

enum class Status : std::uint8_t {
  kOk,
  kExisted,        // kOk of a create that found the chunk
  kUnknown,        // no chunk of that name, or it died with all who knew it
  kMismatch,       // it exists with another size or protocol
  kBusy,           // a try that somebody's scope is in the way of
  kTimedOut,       // the deadline passed
  kNoMemory,       // the budget is too small, or in use by open scopes
  kNotSubscribed,  // a take without a subscription, or one that ended meanwhile
  kWritten,        // to be written, but once, and it has been: by node `version`, or kNoNode
  kEnded,          // of a work stream: no more versions are written, or none is left to take
  kDied,           // of a work stream: its last subscriber, node `version`
  kUnplaced,       // the chunk has no home before a node subscribes; `changed` is all of it, and
                   // `version` its coherence
};

// Which nodes live, and which server is home of which slot; decided by one authority for the whole
// job. Every node is told of views in the order of their epochs (it may miss some).
struct View {
  struct Slot {
    NodeId home;
    std::uint32_t since = 0;  // the epoch in which it came there; 0: from the job's start
  };
  std::uint32_t epoch = 0;
  std::vector<NodeId> members;  // sorted
  // As many in every view of a job: those of names, then one of each node that may be a home for
  // the chunks that were placed there.
  std::vector<Slot> slots;
  std::uint32_t names = 0;  // how many are of names; 0: all

  bool has(NodeId node) const;
  std::uint32_t name_slots() const {
    return names != 0 ? names : static_cast<std::uint32_t>(slots.size());
  }
};

// Where a chunk or work stream is to have its home, beside the number of a node.
inline constexpr std::uint32_t kHomeByName = ~0u - 1;         // at the home of its name
inline constexpr std::uint32_t kHomeAtFirst = kNoNode.value;  // at the first subscriber

// What the creator of a work stream says.
struct WorkShape {
  std::uint64_t capacity = 0;  // bytes of versions that a node may have written and not done
  bool in_order = false;       // versions are taken in the order of their tags 0, 1, 2, ...
  std::uint32_t home = kHomeByName;
  bool operator==(const WorkShape&) const = default;
};

// ---- What a node is told

// Resumed with kOk or kExisted and the chunk, or kMismatch, kNoMemory, kUnknown (the node that is
// to be its home is not in the view), kUnplaced, kTimedOut.
struct Create {
  std::string_view name;
  std::uint64_t bytes;
  Coherence coherence;
  WaiterId waiter;
  WorkShape work = {};               // of a work stream
  std::uint32_t home = kHomeByName;  // of another chunk; what its first creator says holds
  // Of a chunk that has no home: kHere: this node is about to subscribe, and becomes it; kWait: is
  // awaited until the deadline.
  enum class Unplaced : std::uint8_t { kTell, kHere, kWait } unplaced = Unplaced::kTell;
  std::uint64_t deadline_ns = kNever;
};
// Resumed with the chunk, or kUnknown, kUnplaced; with wait, once a node creates it, or
// kTimedOut.
struct Find {
  std::string_view name;
  bool wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Resumed when the scope is open (kOk; version: what it reads), or kBusy, kTimedOut, kNoMemory,
// kUnknown. The chunk is one that Create or Find answered on this node. A thread that asks for a
// scope of a chunk of which it holds one may wait for itself.
struct Open {
  ChunkId chunk;
  Mode mode;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Ends a scope that Open or Take opened in this mode, at the place that it answered. A writing one
// makes a new version, which differs from the one before in `wrote` alone, as the host says.
struct Close {
  ChunkId chunk;
  Mode mode;
  Place place;
  Range wrote = {};
};
// From now on versions of a pushed chunk that change something of `range` come here; also the
// newest there is, where anything was written. Memory for `window` versions and the newest is set
// aside. Resumed with kOk, kNoMemory, kMismatch (not a pushed chunk), kUnknown. One subscription of
// a chunk on a node.
struct Subscribe {
  ChunkId chunk;
  Policy policy;
  std::uint32_t window;  // 1 to kMaxWindow; kLatest: always 1
  WaiterId waiter;
  Range range = {};
};
// What came and was not taken is forgotten; a thread that waits in Take is told kNotSubscribed.
struct Unsubscribe {
  ChunkId chunk;
};
// Opens a reading scope of the next version that came; waits for it. Resumed as Open is, and with
// the number of versions that would have come but were left out before this one.
struct Take {
  ChunkId chunk;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// From now on the chunk keeps to another coherence; waits until no scope of it is open anywhere, or
// none that writes where it was pushed and will be. Versions stay; subscriptions end where it is
// pushed no more. Resumed with kOk, kNoMemory (of its home), kUnknown, kTimedOut; the
// change comes about then all the same.
struct Hint {
  ChunkId chunk;
  Coherence coherence;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Work streams. Opens a version to be written. Resumed with kOk and a place for a full length;
// kBusy, kTimedOut, kNoMemory, kEnded, kDied, kUnknown.
struct WorkWrite {
  ChunkId chunk;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// The open version is one of so many bytes with this tag; forgotten where the stream has ended.
// `sources`: open versions of other streams from which it was made, the caller's. They are not done
// before it.
struct WorkSource {
  ChunkId chunk;
  Place place;
};
struct WorkPublish {
  ChunkId chunk;
  Place place;
  std::uint64_t bytes;
  std::uint64_t tag;
  std::span<const WorkSource> sources = {};
};
// Resumed with kOk, kNoMemory, kMismatch (subscribed already, or another node to a stream in
// order), kEnded, kUnknown. credit: bytes, at least a full length.
struct WorkSubscribe {
  ChunkId chunk;
  std::uint64_t credit;
  WaiterId waiter;
};
struct WorkUnsubscribe {
  ChunkId chunk;
};
// Resumed with kOk, a place and what WorkVersion says; kBusy, kTimedOut, kEnded, kNotSubscribed,
// kUnknown.
struct WorkTake {
  ChunkId chunk;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Ends a version that was taken, or gives up one that is being written.
struct WorkRelease {
  ChunkId chunk;
  Place place;
};
// Nobody writes any more. Resumed with kOk, kUnknown.
struct WorkEnd {
  ChunkId chunk;
  WaiterId waiter;
};
// The copy's memory is wanted for something else; nothing where it is in use.
struct Drop {
  ChunkId chunk;
};
// This node, which is no home, is to leave the job: it gives back all that it has, and its
// subscriptions end. Resumed with kOk once the homes have everything; it is to be taken out of the
// view then. No scope is open here and none is asked for any more.
struct Leave {
  WaiterId waiter;
};
// Also the first event of all. The view stays the host's; read in the step alone.
struct ViewChanged {
  const View* view;
};
struct Elapsed {
  std::uint64_t now_ns;
};
// data: what follows the message, where it lies elsewhere.
struct Received {
  NodeId from;
  Bytes message;
  Bytes data = {};
};
using Event = std::variant<Create, Find, Open, Close, Subscribe, Unsubscribe, Take, Hint, Drop,
                           Leave, ViewChanged, Elapsed, Received, WorkWrite, WorkPublish,
                           WorkSubscribe, WorkUnsubscribe, WorkTake, WorkRelease, WorkEnd>;

// ---- What it answers. The host performs them in order, before the next step.

// Bytes of Effects::bytes; with_data: and then the bytes of the chunk here, as they are now.
struct Send {
  NodeId to;
  std::uint32_t offset;
  std::uint32_t size;
  ChunkId chunk;
  Place place;
  bool with_data;
  std::uint64_t data_bytes = ~0ull;  // no more of them than these
};
// Bytes of Effects::bytes, and then the data, which came with the message at hand.
struct Forward {
  NodeId to;
  std::uint32_t offset;
  std::uint32_t size;
  ChunkId chunk;
  Bytes data;
};
// Of a work stream, as it was taken.
struct WorkVersion {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  NodeId writer;
  bool again = false;  // another node had it before
};
struct Resume {
  WaiterId waiter;
  Status status;
  ChunkId chunk;
  std::uint64_t version;
  Place place;
  std::uint64_t missed;
  Range changed;  // of a version that was taken: where it differs from the one taken before
  WorkVersion work = {};
};
// A version came that Take may open.
struct Notify {
  ChunkId chunk;
  std::uint64_t version;
};
// A work stream may be written at once, or cannot be any more.
struct NotifyWritable {
  ChunkId chunk;
};
// Told by the home of a work stream: what this subscriber had when it died or left goes to others.
struct WorkReturned {
  ChunkId chunk;
  std::string name;
  NodeId from;
  std::vector<std::uint64_t> tags;
  bool others;  // subscribe
};
// Memory for the chunk, zeroed if fresh. Nothing where it is there already.
struct Provide {
  ChunkId chunk;
  Place place;
  std::uint64_t bytes;
};
// These become the chunk's bytes here; valid until the next step.
struct Install {
  ChunkId chunk;
  Place place;
  Bytes bytes;
};
// The chunk's memory here is needed no more.
struct Discard {
  ChunkId chunk;
  Place place;
};
// One buffer's bytes to another of the same chunk; a host may let them be one where neither
// changes.
struct CopyBytes {
  ChunkId chunk;
  Place from;
  Place to;
};
// Told by a home: the newest version of a chunk may have died with the nodes that had it. What was
// version `from` is version `version` from now on; kNothing: there was no copy left, and it holds
// zeros, or is gone where it is a pushed one.
struct Lost {
  static constexpr std::uint64_t kNothing = ~0ull;
  ChunkId chunk;
  std::string name;
  std::uint64_t from;
  std::uint64_t version;
};
struct Malformed {
  NodeId from;
};  // close that peer

using Effect = std::variant<Send, Forward, Resume, Notify, NotifyWritable, Provide, Install,
                            CopyBytes, Discard, Lost, WorkReturned, Malformed>;
struct Effects {
  std::vector<Effect> list;
  std::vector<std::byte> bytes;

  void clear() {
    list.clear();
    bytes.clear();
  }
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
