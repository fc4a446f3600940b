#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "base/result.h"

namespace terrane::transport {

using Bytes = std::span<const std::byte>;
using WritableBytes = std::span<std::byte>;

// A place in a node's memory: the index of an exported region, and bytes from the region's start.
struct RemoteAddress {
  std::uint32_t region = 0;
  std::uint64_t offset = 0;
};

enum class AtomicOp : std::uint8_t { kAdd, kAnd, kOr, kXor, kSwap, kCompareSwap };

// An operation on one word of 4 or 8 bytes, which lies at a multiple of its size. kCompareSwap
// stores `operand` where the word equals `expected`. Of a word of 4 bytes the low halves count.
struct Atomic {
  AtomicOp op = AtomicOp::kAdd;
  std::uint32_t bytes = 8;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
};

// What a node does to the memory of its peers, and to its own, without the peers' program taking
// part: by loads and stores where the memory can be reached, by RDMA where the network has it, else
// through whatever progress the peer's transport makes: at once while a thread of the peer polls,
// and else its sleeping thread is woken.
//
// Every method may be called by any thread. Inside a receiver only those that never wait: put_nbi,
// get_nbi, atomic_post, atomic_fetch_nbi; the others answer with an error there where they would
// have to wait. Messages that come while a call waits are kept for the next poll.
//
// An atomic is atomic to all others on the same word, also to the processor's own ones
// (std::atomic_ref) in the processes that have the memory. An aligned put of a whole word is seen
// whole.
//
// Errors: a place outside of the region, a word that is not aligned, a peer that is lost (where its
// memory can still be reached, calls go on), a region that this transport cannot reach. Nothing
// waits for a lost peer for ever.
//
// The implementation here is for memory that reach() reaches.
class OneSided {
 public:
  virtual ~OneSided() = default;

  // The peer's exported region mapped here, or nullptr where its memory cannot be reached by loads
  // and stores. Maps on first use; the caller keeps the pointer.
  virtual std::byte* reach(NodeId peer, std::uint32_t region) = 0;
  // The size of the peer's region; 0 where there is none.
  virtual std::uint64_t region_bytes(NodeId peer, std::uint32_t region) const = 0;

  // Returns when `from` may be changed again. The target has it after quiet().
  virtual base::Result<> put(NodeId peer, RemoteAddress to, Bytes from);
  // Returns when the bytes are in `into`.
  virtual base::Result<> get(NodeId peer, RemoteAddress from, WritableBytes into);
  // The same, but the memory here belongs to the transport until quiet().
  virtual base::Result<> put_nbi(NodeId peer, RemoteAddress to, Bytes from);
  virtual base::Result<> get_nbi(NodeId peer, RemoteAddress from, WritableBytes into);

  // Returns the word as it was before.
  virtual base::Result<std::uint64_t> atomic_fetch(NodeId peer, RemoteAddress word,
                                                   const Atomic& atomic);
  // The same; `into`, as long as the word, holds it after quiet() and belongs to the transport
  // until then.
  virtual base::Result<> atomic_fetch_nbi(NodeId peer, RemoteAddress word, const Atomic& atomic,
                                          std::byte* into);
  // Without a result. The target has it after quiet(). kSwap sets the word; no kCompareSwap.
  virtual base::Result<> atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic);
  // A put, then the word is set to `value`. A reader that sees the new word sees these bytes, and
  // what this thread has put to the peer before. One message if calls are messages. quiet() need
  // not wait for it, because the reader can confirm it. The word has 8 bytes and is aligned to 8.
  virtual base::Result<> put_and_set(NodeId peer, RemoteAddress to, Bytes from, RemoteAddress word,
                                     std::uint64_t value);

  // Puts and atomics that were issued before are seen by each peer before those issued later.
  virtual base::Result<> fence();
  // All that this process issued before, toward one peer or toward all, is done: at the target, and
  // here. The error of the first peer that was lost before it had all.
  virtual base::Result<> quiet(NodeId peer);
  virtual base::Result<> quiet();

 protected:
  // The error unless these bytes lie in the peer's region, or this word does and is aligned.
  base::Result<> check(NodeId peer, RemoteAddress at, std::uint64_t bytes) const;
  base::Result<> check(NodeId peer, RemoteAddress at, const Atomic& atomic) const;
  base::Result<> check_post(NodeId peer, RemoteAddress at, const Atomic& atomic) const;

 private:
  template <typename What>
  base::Result<std::byte*> locate(NodeId peer, RemoteAddress at, const What& what);
};

}  // namespace terrane::transport
