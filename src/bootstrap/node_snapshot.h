#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace terrane::bootstrap {

// Counts of one page, lock or chunk. Times in nanoseconds. `recent`: since the node's snapshot
// before, recent_ns ago; `total`: since the node is watched, or since --stats counts.
struct PageCounts {
  std::uint64_t faults = 0, fetched = 0, refreshed = 0, flushed = 0, flushed_bytes = 0;
  std::uint64_t waited_ns = 0;  // of threads, in faults

  bool operator==(const PageCounts&) const = default;
};
struct PageSnapshot {
  std::uint64_t page = 0;     // its number in shared memory, the same on all nodes
  std::uint64_t address = 0;  // where the program sees it
  std::string name;           // of the variables or the allocation there; may be empty
  PageCounts recent, total;

  bool operator==(const PageSnapshot&) const = default;
};

struct LockCounts {
  std::uint64_t acquires = 0;
  std::uint64_t remote = 0;  // of these, how often it came from another node
  std::uint64_t waited_ns = 0;

  bool operator==(const LockCounts&) const = default;
};
struct LockSnapshot {
  std::uint64_t token = 0;  // the same on all nodes
  std::string name;
  LockCounts recent, total;

  bool operator==(const LockSnapshot&) const = default;
};

// Versions of a chunk that a node has written and taken, and how long takes waited for them.
struct StreamCounts {
  std::uint64_t written = 0, written_bytes = 0, taken = 0, waited_ns = 0;

  bool operator==(const StreamCounts&) const = default;
};
struct StreamSnapshot {
  std::string name;
  StreamCounts recent, total;

  bool operator==(const StreamSnapshot&) const = default;
};

// The counters of one node at one moment, as it tells them to the launcher. Those outside of the
// lists begin at the node's start and never shrink. A process with several interfaces tells one
// snapshot for each; add() makes one of them.
struct NodeSnapshot {
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  static constexpr std::size_t kMostListed = 16;  // pages, locks, streams: those that cost most
  static constexpr std::size_t kMostName = 200;   // bytes of a name; longer ones are cut

  std::uint64_t at_ns = 0;      // CLOCK_MONOTONIC of its host
  std::uint64_t age_ns = 0;     // since it joined the job
  std::uint64_t recent_ns = 0;  // since its snapshot before; 0: this is the first
  // Of the program's threads that use shared pages, together: their time, and what they did not
  // compute in. The handler is a thread of the node's own.
  std::uint64_t threads = 0, lived_ns = 0, fault_ns = 0, lock_ns = 0, barrier_ns = 0,
                protocol_ns = 0, handler_ns = 0;
  std::uint64_t read_faults = 0, write_faults = 0, zeros = 0, fetched = 0, refreshed = 0,
                flushed = 0, flushed_bytes = 0, evicted = 0, acquires = 0, barriers = 0;
  std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;  // messages of pages
  // Of shared memory. kept: homes, copies and twins.
  std::uint64_t home_bytes = 0, copy_bytes = 0, kept_bytes = 0, limit_bytes = 0;
  // Of chunks.
  std::uint64_t chunk_sent = 0, chunk_sent_bytes = 0, chunk_received = 0, chunk_received_bytes = 0,
                versions_written = 0, versions_taken = 0, chunk_waits = 0, chunk_wait_ns = 0;
  std::vector<PageSnapshot> pages;
  std::vector<LockSnapshot> locks;
  std::vector<StreamSnapshot> streams;

  // Takes in what another interface of the same process tells.
  void add(const NodeSnapshot& other);
  bool operator==(const NodeSnapshot&) const = default;
};

// For one packet of the node's socket (kMaxPacketBytes), whatever the names.
std::vector<std::byte> encode_snapshot(NodeSnapshot snapshot);
// nullopt: the bytes are no snapshot.
std::optional<NodeSnapshot> decode_snapshot(std::span<const std::byte> bytes);

}  // namespace terrane::bootstrap
