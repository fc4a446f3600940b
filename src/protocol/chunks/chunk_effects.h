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

// The chunk's slot, the epoch in which the slot came to its home, and a count: unique in a job.
using ChunkId = Id<struct ChunkTag, std::uint64_t>;
inline constexpr ChunkId kNoChunk{~0ull};

inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::uint64_t kMaxChunkBytes = 1ull << 40;
inline constexpr std::uint64_t kNever = ~0ull;  // no deadline

// What a scope allows its thread to do. kWrite: the thread writes every byte, and the bytes that it
// finds are undefined.
enum class Mode : std::uint8_t { kRead, kWrite, kReadWrite };
// kTry: does not wait for another scope, on any node; it is answered kBusy if one is in the way.
enum class Wait : std::uint8_t { kBlock, kTry };
// State of a copy. kExclusive: its bytes are those of the home; kModified: they are newer.
enum class State : std::uint8_t { kInvalid, kShared, kExclusive, kModified };
// How a chunk is kept coherent. kInvalidate: one writer or many readers, on all nodes together. The
// next three are pushed: each writing scope makes a version in a buffer of its own, which goes to
// all subscribers; a reader sees the newest version that has come to its node, also while another
// version is being written. kUpdate: the home keeps one version that a subscriber must still be
// sent, kStream two. kOnce: as kUpdate, but only one scope writes the chunk; if it was written
// before it becomes kOnce, no scope writes it any more.
// kWork: a work stream (WorkHome, WorkClient); the home of its name knows only its name, shape and
// home.
enum class Coherence : std::uint8_t { kInvalidate, kUpdate, kStream, kOnce, kWork };
// What happens if a subscriber is slow. kBlock: the writer waits, and every version comes, in
// order. kLatest: versions are left out, and the next one to come is the newest. kDrop: the same,
// but with a window that the subscriber chooses. Take reports how many were left out. The last
// version always comes.
enum class Policy : std::uint8_t { kBlock, kLatest, kDrop };
inline constexpr std::uint32_t kMaxWindow = 1024;

// One of a chunk's buffers on a node. A chunk of kInvalidate has one buffer, number 0.
using Place = Id<struct PlaceTag, std::uint32_t>;
// The first of the home's buffers of a pushed chunk; those of the client on the same node have
// lower numbers.
inline constexpr std::uint32_t kHomePlaces = 1u << 16;

// A range of a chunk's bytes; by default all of them. A chunk changes as a whole, but a writer may
// say which bytes it wrote, and a subscriber which bytes it needs.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = ~0ull;

  bool fits(std::uint64_t all) const { return bytes > 0 && offset < all && bytes <= all - offset; }
  // The part of the range that is inside a chunk of `all` bytes.
  Range within(std::uint64_t all) const {
    std::uint64_t from = offset < all ? offset : all;
    return {from, bytes < all - from ? bytes : all - from};
  }
  bool touches(const Range& other) const {
    return offset < other.offset + other.bytes && other.offset < offset + bytes;
  }
  // The smallest range that contains both.
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
  kUnknown,        // no chunk of that name, or the chunk has died
  kMismatch,       // the chunk has another size or coherence
  kBusy,           // a try, and an open scope is in the way
  kTimedOut,       // the deadline passed
  kNoMemory,       // the budget is too small, or open scopes use it
  kNotSubscribed,  // a take without a subscription, or the subscription ended meanwhile
  kWritten,        // a kOnce chunk that was written before: by node `version`, or kNoNode
  kEnded,          // of a work stream: no versions are written any more, or none is left to take
  kDied,           // of a work stream: its last subscriber, node `version`, has died
  kUnplaced,       // the chunk has no home until a node subscribes; `changed` is the whole chunk,
                   // `version` its coherence
};

// The living nodes, and the home of each slot. One authority decides views for the whole job. Every
// node gets views in the order of their epochs, but may miss some.
struct View {
  struct Slot {
    NodeId home;
    std::uint32_t since = 0;  // the epoch in which the slot came to this home; 0: at the job's
                              // start
  };
  std::uint32_t epoch = 0;
  std::vector<NodeId> members;  // sorted
  // The same number in every view of a job: first the slots of names, then one slot for each node
  // that may be the home of chunks placed there.
  std::vector<Slot> slots;
  std::uint32_t names = 0;  // number of slots of names; 0: all

  bool has(NodeId node) const;
  std::uint32_t name_slots() const {
    return names != 0 ? names : static_cast<std::uint32_t>(slots.size());
  }
};

// Values for the home of a chunk or work stream, besides the number of a node.
inline constexpr std::uint32_t kHomeByName = ~0u - 1;         // at the home of its name
inline constexpr std::uint32_t kHomeAtFirst = kNoNode.value;  // at the first subscriber

// What the creator of a work stream chooses.
struct WorkShape {
  std::uint64_t capacity = 0;  // for each writing node: bytes of versions that are written and not
                               // done
  bool in_order = false;       // versions are taken in the order of their tags 0, 1, 2, ...
  std::uint32_t home = kHomeByName;
  bool operator==(const WorkShape&) const = default;
};

// ---- Events: what the host passes to the machine of a node

// Creates a chunk, or finds it. Resumed with kOk or kExisted and the chunk, or kMismatch,
// kNoMemory, kUnknown (the chosen home is not in the view), kUnplaced, kTimedOut.
struct Create {
  std::string_view name;
  std::uint64_t bytes;
  Coherence coherence;
  WaiterId waiter;
  WorkShape work = {};               // of a work stream
  std::uint32_t home = kHomeByName;  // of any other chunk; the first creator decides
  // What happens if the chunk has no home yet. kTell: answered kUnplaced. kHere: this node is about
  // to subscribe, and becomes the home. kWait: the thread waits for a home until the deadline.
  enum class Unplaced : std::uint8_t { kTell, kHere, kWait } unplaced = Unplaced::kTell;
  std::uint64_t deadline_ns = kNever;
};
// Finds a chunk. Resumed with the chunk, or kUnknown, kUnplaced. With `wait` the thread waits until
// a node creates the chunk, or is resumed with kTimedOut.
struct Find {
  std::string_view name;
  bool wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Opens a scope. Resumed when it is open (kOk; `version`: the version that it reads), or with
// kBusy, kTimedOut, kNoMemory, kUnknown. Create or Find must have returned the chunk on this node.
// A thread that opens a scope of a chunk of which it holds one already may wait for itself.
struct Open {
  ChunkId chunk;
  Mode mode;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Ends a scope that Open or Take opened in this mode, at the place that was returned. A writing
// scope makes a new version, which differs from the one before only in `wrote`, as the host says.
struct Close {
  ChunkId chunk;
  Mode mode;
  Place place;
  Range wrote = {};
};
// Subscribes this node to a pushed chunk: versions that change something of `range` come here, at
// first the newest one, if anything was written. Memory for `window` versions and the newest one is
// reserved. Resumed with kOk when the home knows of it, so that no version is passed over that is
// written from then on; if the chunk is about to be pushed, when it is. Or with kNoMemory,
// kMismatch (not a pushed chunk, or the node has a subscription of it already), kUnknown,
// kNotSubscribed (it was ended before the home had answered).
struct Subscribe {
  ChunkId chunk;
  Policy policy;
  std::uint32_t window;  // 1 to kMaxWindow; kLatest: always 1
  WaiterId waiter;
  Range range = {};
};
// Ends the subscription. Versions that came and were not taken are forgotten. Threads that wait in
// Take are resumed with kNotSubscribed.
struct Unsubscribe {
  ChunkId chunk;
};
// Opens a reading scope of the next version that comes by subscription; waits for it. Resumed as by
// Open, and with the number of versions that were left out before this one.
struct Take {
  ChunkId chunk;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Changes the coherence of the chunk. Waits until no scope of it is open on any node; if it is
// pushed before and after the change, until no writing scope is open. Versions stay; subscriptions
// end if the chunk is not pushed any more. Resumed with kOk, kNoMemory (of its home), kUnknown,
// kTimedOut; after kTimedOut the change still happens.
struct Hint {
  ChunkId chunk;
  Coherence coherence;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Work streams. Opens a version to be written. Resumed with kOk and a place for a full length, or
// kBusy, kTimedOut, kNoMemory, kEnded, kDied, kUnknown.
struct WorkWrite {
  ChunkId chunk;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// An open version of another stream, which the calling thread has taken.
struct WorkSource {
  ChunkId chunk;
  Place place;
};
// Publishes an open version, with its length and tag; it is dropped if the stream has ended.
// `sources`: the versions from which it was made; they are not done before this one is.
struct WorkPublish {
  ChunkId chunk;
  Place place;
  std::uint64_t bytes;
  std::uint64_t tag;
  std::span<const WorkSource> sources = {};
};
// Subscribes to a work stream. Resumed with kOk, kNoMemory, kMismatch (this node has subscribed
// already, or another node to a stream in order), kEnded, kUnknown. `credit`: in bytes, at least a
// full length.
struct WorkSubscribe {
  ChunkId chunk;
  std::uint64_t credit;
  WaiterId waiter;
};
struct WorkUnsubscribe {
  ChunkId chunk;
};
// Takes a version of a work stream. Resumed with kOk, its place and its WorkVersion, or kBusy,
// kTimedOut, kEnded, kNotSubscribed, kUnknown.
struct WorkTake {
  ChunkId chunk;
  Wait wait;
  std::uint64_t deadline_ns;
  WaiterId waiter;
};
// Ends the use of a version that was taken, or gives up a version that is being written.
struct WorkRelease {
  ChunkId chunk;
  Place place;
};
// Ends a work stream: no node writes it any more. Resumed with kOk, kUnknown.
struct WorkEnd {
  ChunkId chunk;
  WaiterId waiter;
};
// The host needs the copy's memory. Does nothing if the copy is in use.
struct Drop {
  ChunkId chunk;
};
// This node, which is no home, leaves the job: it evicts all its copies, and its subscriptions end.
// Resumed with kOk once the homes have everything; then the authority takes the node out of the
// view. No scope may be open on this node, and none may be opened any more.
struct Leave {
  WaiterId waiter;
};
// There is a new view; also the first event of all. The host owns the view; the machine reads it
// only during the step.
struct ViewChanged {
  const View* view;
};
struct Elapsed {
  std::uint64_t now_ns;
};
// A message has come. `data`: what follows the message, if it is in other memory.
struct Received {
  NodeId from;
  Bytes message;
  Bytes data = {};
};
using Event = std::variant<Create, Find, Open, Close, Subscribe, Unsubscribe, Take, Hint, Drop,
                           Leave, ViewChanged, Elapsed, Received, WorkWrite, WorkPublish,
                           WorkSubscribe, WorkUnsubscribe, WorkTake, WorkRelease, WorkEnd>;

// ---- Effects: what the host has to do, in order, before the next step

// Send these bytes of Effects::bytes; with_data: and behind them the bytes of the chunk's buffer,
// as they are now.
struct Send {
  NodeId to;
  std::uint32_t offset;
  std::uint32_t size;
  ChunkId chunk;
  Place place;
  bool with_data;
  std::uint64_t data_bytes = ~0ull;  // at most this many of them
};
// Send these bytes of Effects::bytes, and behind them the data that came with the message at hand.
struct Forward {
  NodeId to;
  std::uint32_t offset;
  std::uint32_t size;
  ChunkId chunk;
  Bytes data;
};
// A version of a work stream, as a subscriber takes it.
struct WorkVersion {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  NodeId writer;
  bool again = false;  // another subscriber had it before
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
// A version has come that Take may open.
struct Notify {
  ChunkId chunk;
  std::uint64_t version;
};
// A version of the work stream can be opened at once, or none can be opened any more.
struct NotifyWritable {
  ChunkId chunk;
};
// Reported by the home of a work stream: the versions that subscriber `from` had when it died or
// left go to other subscribers.
struct WorkReturned {
  ChunkId chunk;
  std::string name;
  NodeId from;
  std::vector<std::uint64_t> tags;
  bool others;  // there are other subscribers
};
// Make a zeroed buffer for the chunk, unless it exists already.
struct Provide {
  ChunkId chunk;
  Place place;
  std::uint64_t bytes;
};
// Store these bytes in the buffer; they are valid until the next step.
struct Install {
  ChunkId chunk;
  Place place;
  Bytes bytes;
};
// The buffer is not needed any more.
struct Discard {
  ChunkId chunk;
  Place place;
};
// Copy one buffer's bytes to another buffer of the same chunk. The host may use one buffer for both
// if neither changes.
struct CopyBytes {
  ChunkId chunk;
  Place from;
  Place to;
};
// Reported by a home: the newest version of a chunk may have died with the nodes that had it. The
// bytes of version `from` are version `version` from now on. kNothing: no copy is left; the chunk
// holds zeros or, if it is pushed, is gone.
struct Lost {
  static constexpr std::uint64_t kNothing = ~0ull;
  ChunkId chunk;
  std::string name;
  std::uint64_t from;
  std::uint64_t version;
};
struct Malformed {
  NodeId from;
};  // the host has to close this peer

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
