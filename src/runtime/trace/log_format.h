#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The file of a node's event log, NODE.events: a FileHeader, then blocks. A block has records of
// one thread, in the order of its events; blocks of different threads alternate. If the node died,
// the file may end within a block.
namespace terrane::runtime::trace {

inline constexpr std::array<char, 8> kMagic = {'t', 'e', 'r', 'r', 'l', 'o', 'g', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::string_view kSuffix = ".events";

struct FileHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t byte_order = kByteOrder;
  std::uint32_t version = kVersion;
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
  std::uint64_t monotonic_ns = 0;  // the same moment on two clocks, so that hosts can be compared
  std::uint64_t realtime_ns = 0;
  std::array<char, 64> host{};  // its name, padded with zeros
};
static_assert(sizeof(FileHeader) == 104);

enum class BlockKind : std::uint32_t {
  kRecords = 1,
  kEvents = 2,   // lines "NUMBER NAME": the known events; once, at the start
  kEnd = 3,      // empty: the node left the job in order
  kCommand = 4,  // the program's arguments, a zero after each; once, at the start
};

inline constexpr std::uint32_t kBlockMark = 0x6b6c6274;

struct BlockHeader {
  std::uint32_t mark = kBlockMark;
  BlockKind kind = BlockKind::kRecords;
  std::uint32_t thread = 0;  // the system's number of the thread
  std::uint32_t bytes = 0;   // bytes of records that follow
};
static_assert(sizeof(BlockHeader) == 16);

// What happened. Each front-end has its own hundred numbers. The meaning of a number never changes.
// `object` is a chunk's number unless stated otherwise.
enum class Event : std::uint16_t {
  kNone = 0,
  // Events of all front-ends. A text of `number` bytes follows in the next records.
  kObjectName = 1,  // value: its size in bytes; kind: its coherence
  kThreadName = 2,
  kNodeDied = 3,  // object: the node

  // Events of chunks. kind: a protocol::chunks::Mode unless stated otherwise.
  kScopeOpened = 100,   // value: ns waited; detail: a ScopeOrigin; number: the version's low half
  kScopeClosed = 101,   // value: ns that it was open
  kScopeRefused = 102,  // value: ns waited; detail: a protocol::chunks::Status
  kState = 103,         // kind: the new protocol::chunks::State of this node's copy
  kBytesSent = 104,     // value: bytes; kind: a BytesWay; number: the node
  kBytesCame = 105,     // value: bytes; kind: a BytesWay
  kPublished = 106,     // value: bytes; number: the version's low half
  kMissed = 107,        // value: versions skipped before the one that was taken
  kHandlerRan = 108,    // value: ns that it took
  kBarrier = 109,       // value: ns waited; number: threads of the barrier
  kSignal = 110,        // number: signals so far
  kAwaited = 111,       // value: ns waited; number: of signals
  kLost = 112,          // versions of a dead node are lost
  // One record for a scope that opened at once, in place of kScopeOpened and kScopeClosed. value:
  // ns that it was open. detail: number of earlier such scopes of this chunk, mode and node that
  // have no record. number: the version's low half.
  kScope = 113,
  kScopesMore = 114,   // number: such scopes without a record when the node left
  kScopesEvery = 115,  // number: one of this many scopes has a record, on average
};

enum class ScopeOrigin : std::uint8_t { kOpen = 0, kTake = 1 };
enum class BytesWay : std::uint8_t { kShared = 0, kCopied = 1 };  // by host memory; by message

struct Record {
  std::uint64_t time_ns = 0;  // end of the event (CLOCK_MONOTONIC; in a ring: ticks)
  std::uint64_t object = 0;
  std::uint64_t value = 0;
  Event event = Event::kNone;
  std::uint8_t kind = 0;
  std::uint8_t detail = 0;
  std::uint32_t number = 0;
};
static_assert(sizeof(Record) == 32);

// Written into each log, so that a reader can name events that it does not know.
inline constexpr std::string_view kEventNames =
    "1 object name\n2 thread name\n3 node died\n"
    "100 scope opened\n101 scope closed\n102 scope refused\n103 state\n104 bytes sent\n"
    "105 bytes came\n106 published\n107 missed\n108 handler ran\n109 barrier\n110 signal\n"
    "111 awaited\n112 lost\n113 scope\n114 scopes more\n115 scopes every\n";

}  // namespace terrane::runtime::trace
