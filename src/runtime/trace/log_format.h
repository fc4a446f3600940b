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
// The environment variable that names the job in its logs.
inline constexpr const char* kJobVariable = "TERRANE_REPORT_JOB";

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
  kJob = 5,      // which job this is: a text that no other job has; at the start, if it is known
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
  kSlow = 4,      // the text: a sentence about what was slow in the whole job

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

  // Events of shared pages. A strip is what one thread after another does: a place of threads, with
  // a number on its node.
  kPages = 200,  // once. object: address of shared memory; value: its bytes; number: of a page
  kStrip = 201,  // object: strip; kind: 1 of the program, 0 of Terrane. A text: its name
  kLives = 202,  // object: strip; kind: 1 its thread begins, 0 it ends
  // What took time in a step, which ends at time_ns. object: strip; kind: a TimeKind; value: ns;
  // number: us of the step. What lasted longer than the step began before it.
  kTime = 203,
  // One wait that was long against the time so far. object: what was waited for; kind: a TimeKind;
  // value: ns; number: strip.
  kWait = 204,
  kWaitsLeftOut = 205,  // number: such waits without a record, for lack of room
  // At the end of the job, what a node has counted.
  kLock = 206,         // object: token; value: ns waited; number: how often a thread got it
  kLockTravels = 207,  // object: token; number: how often it came from another node
  kMemory = 208,       // object: address; kind: a MemoryCount; value: so many
  kMoved = 209,        // pages and differences. kind: a Moved; value: bytes; number: other node
  kHomes = 210,        // object: address; value: bytes from there; number: pages at home here
  // Node 0 names what it can. A text: the name. value: bytes from the object on.
  kNamed = 211,
  // Node 0, of pages that came again and again. object: address; value: ns waited; kind: a
  // runtime::SharingKind; detail: 1 if it matters. Text: lines "writers", "drawing", "remedy".
  kShared = 212,
  kRegion = 213,       // object: number of an OpenMP region; value: ns; kind: 0. A text: its place
  kRegionCount = 214,  // object: region; kind: a RegionCount; value: so many

  // Events of OpenSHMEM, whose threads have strips and waits as above: a fault is a transfer there,
  // a lock a wait for a word or a lock, a barrier a collective call. The object of a wait is a
  // place of the program, which each PE names.
  kShmem = 215,  // once
  // At the end, what all calls of one name have cost. object: a number; value: ns; kind: a
  // TimeKind. A text: the name.
  kCall = 216,
  kCalls = 217,  // object: that number; value: how often
};

constexpr bool has_text(Event event) {
  using enum Event;
  return event == kObjectName || event == kThreadName || event == kSlow || event == kStrip ||
         event == kNamed || event == kShared || event == kRegion || event == kCall;
}

// What takes a thread's time. The rest is computing. kRegion: of main's thread, around the others.
enum class TimeKind : std::uint8_t { kFault, kLock, kBarrier, kHandler, kProtocol, kRegion };
inline constexpr std::size_t kTimeKinds = 5;  // without kRegion
enum class MemoryCount : std::uint8_t { kFaults, kFetched, kRefreshed, kFlushedBytes, kWaitedNs };
inline constexpr std::size_t kMemoryCounts = 5;
enum class Moved : std::uint8_t { kSent, kCame };
enum class RegionCount : std::uint8_t { kCalls, kFaults, kFetched, kFlushedBytes, kMessages };
inline constexpr std::size_t kRegionCounts = 5;

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
    "1 object name\n2 thread name\n3 node died\n4 slow\n"
    "100 scope opened\n101 scope closed\n102 scope refused\n103 state\n104 bytes sent\n"
    "105 bytes came\n106 published\n107 missed\n108 handler ran\n109 barrier\n110 signal\n"
    "111 awaited\n112 lost\n113 scope\n114 scopes more\n115 scopes every\n200 pages\n201 strip\n"
    "202 lives\n203 time\n204 wait\n205 waits left out\n206 lock\n207 lock travels\n208 memory\n"
    "209 moved\n210 homes\n211 named\n212 shared\n213 region\n214 region count\n"
    "215 shmem\n216 call\n217 calls\n";

}  // namespace terrane::runtime::trace
