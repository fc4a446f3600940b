#pragma once

#include <cstdint>

namespace terrane::runtime {

// The file that a node leaves of what its threads did (runtime/recording.h), for `terrane advise`:
// a head, then operations in the order in which they were noted. All nodes have the same byte
// order.
struct RecordHead {
  static constexpr std::uint64_t kMagic = 0x31304345'52524554;  // "TERREC01"

  std::uint64_t magic = kMagic;
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t base = 0;      // the program's address of shared memory, where not placed elsewhere
  std::uint64_t left_out = 0;  // operations for which there was no room
};

// One thing that a thread did. Blocks are counted from the start of shared memory.
struct RecordedOp {
  enum class Kind : std::uint8_t {
    kWork,  // value: nanoseconds of processor time
    kRead,  // first use of blocks since the thread's node last acquired anything: id, pages
    kUse,   // the same, by a store
    // Of id and the next blocks, pages in all: value has a bit for each of 64 parts that changed,
    // and other for each byte of a part, counted modulo 64, that did in any of these.
    kWrite,
    kLock,           // id; detail 1: the thread would not have waited
    kUnlock,         // id
    kChangeCount,    // id, detail: CountOp, value: operand
    kAwaitCount,     // id, value: until
    kTakeUnits,      // id, value: units, other: room
    kWaitCondition,  // id, value: the lock
    kSignal,         // id
    kSignalAll,      // id
    kArrive,         // id: of a rendezvous
    kBarrier,        // id, other: threads of the node, value: bytes that are reduced
    kGather,         // id, other: threads of the node
    kFence,          //
    kAtomic,         // id: a block; detail: AtomicKind
    kSet,            // id: an event that is no operation of the protocol
    kAwait,          // id: such an event
    kPlaced,         // of no thread: block id lies at address `value` of the program
    kRegion,         // of no thread: id: first block, value: blocks, detail: Homes, other: argument
  };
  static constexpr std::uint32_t kParts = 64;  // of a block

  Kind kind = Kind::kWork;
  std::uint8_t detail = 0;
  std::uint16_t pages = 1;   // 0: the program has ended before the operation
  std::uint32_t thread = 0;  // number of the thread's context on the node
  std::uint64_t id = 0;
  std::uint64_t value = 0;
  std::uint64_t other = 0;
};
static_assert(sizeof(RecordedOp) == 32);

}  // namespace terrane::runtime
