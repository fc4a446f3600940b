#pragma once

#include "protocol/chunks/chunk_cache.h"
#include "protocol/chunks/chunk_home.h"
#include "protocol/chunks/relays.h"
#include "protocol/chunks/work_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

struct MesiConfig {
  NodeId self;
  std::uint64_t budget_bytes = 1ull << 30;  // for copies whose home is on another node
  std::uint64_t home_bytes = 1ull << 30;    // for chunks whose home is here
  std::uint64_t relay_bytes = 1ull << 28;   // part of home_bytes: for versions that a relay keeps
  // The clusters of the job; nullptr: there is one, or nodes may die or join. Outlives the machine.
  const Clusters* clusters = nullptr;
};

// A node's machine for chunks: client, and server of the slots that the view assigns to it. It
// takes one event and returns effects; it never blocks. The host calls it under one mutex, passes
// the view first, and performs the effects before the next step. Protocol: docs/design/chunks.md.
class MesiChunk {
 public:
  explicit MesiChunk(const MesiConfig& config);
  MesiChunk(const MesiChunk&) = delete;

  void step(const Event& event, Effects& out);
  // When the host has to pass Elapsed next; kNever: not at all.
  std::uint64_t next_deadline_ns() const { return cache_.next_deadline_ns(); }

  const View& view() const { return view_; }
  const ChunkCache& cache() const { return cache_; }
  const ChunkHome& home() const { return home_; }
  const WorkHome& work_home() const { return work_home_; }
  const Relays& relays() const { return relays_; }
  void check_invariants() const;

 private:
  static constexpr std::size_t kMaxStashed = 1 << 16;  // messages of one node

  void received_here(const Received& event, Effects& out);
  void received(NodeId from, Bytes bytes, Bytes data);
  void handle(NodeId from, Bytes bytes, Bytes data = {});
  void change_view(const View& view);
  void handle_own();

  MesiConfig config_;
  View view_;
  ChunkOutbox outbox_;
  HomeMemory memory_{config_.home_bytes};
  ChunkHome home_{memory_, view_, outbox_};
  WorkHome work_home_{memory_, view_, outbox_};
  ChunkCache cache_;
  Relays relays_{config_.self, config_.clusters, view_, memory_, config_.relay_bytes};
  std::map<std::uint32_t, std::deque<std::vector<std::byte>>> stashed_;  // by sender
  std::deque<std::vector<std::byte>> spent_;  // messages whose bytes this step's effects may name
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
