#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/chunks/chunk_engine.h"

namespace terrane::runtime::chunks {

// Why a call of an engine waits: asks the other nodes about a chunk, answers their questions, and
// reports long waits. Any thread may call, without the engine's mutex unless a function says so.
class EngineReports {
 public:
  explicit EngineReports(ChunkEngine& engine) : engine_(engine) {}

  // A sentence about the nodes that have scopes of the chunk open. Asks the other nodes, at most
  // until `deadline_ns`.
  std::string holders(ChunkId chunk, std::uint64_t deadline_ns = machine::kNever) {
    return holders(chunk, Question::kHolders, deadline_ns);
  }
  // A sentence that says why no version can come to this node: it has open scopes on as many
  // versions as its window permits. "": a version can come.
  std::string why_no_version_fits(ChunkId chunk) const;
  // `change` threads of this node more (or fewer) wait in the barrier that this chunk implements.
  void waits_in_barrier(ChunkId chunk, int change);
  // A sentence about the nodes without a thread that waits in that barrier; asks the other nodes.
  std::string absent_from_barrier(ChunkId chunk);
  // A sentence about the servers that do not answer; "": all answer.
  std::string silent_servers(std::uint64_t deadline_ns = machine::kNever);
  // A sentence about the scope that has been open longest; "": none is open.
  std::string oldest_scope() const;
  // Prints a sentence about the wait, unless it has ended meanwhile.
  void report(const ChunkEngine::Waiter& waiter, std::uint64_t deadline_ns);

  // The number and the host of a node.
  std::string describe(NodeId node) const;
  // Under the engine's mutex: another node asks, or answers.
  void tell_holder(NodeId asker, const wire::ChunkFrame& frame);
  void take_holder(NodeId from, const wire::ChunkFrame& frame, transport::Bytes body);

 private:
  enum class Question : std::uint8_t { kHolders, kHoldersAndNewest };
  void inquire(ChunkEngine::Waiter& waiter, ChunkId chunk, Question question,
               std::uint64_t deadline_ns);
  std::string holders(ChunkId chunk, Question question, std::uint64_t deadline_ns);
  std::string who_created(const ChunkEngine::Waiter& waiter, std::uint64_t deadline_ns);
  std::string missing_departures() const;
  std::string describe(const ChunkEngine::Scope& scope) const;
  std::string describe(const std::vector<NodeId>& nodes) const;
  NodeId server_of(std::string_view name) const;
  std::string title(ChunkId chunk) const;
  std::string hold_up(ChunkId chunk) const;
  std::string newest(ChunkId chunk, bool& cause) const;
  const ChunkEngine::Scope* oldest(ChunkId chunk) const;
  std::string report_of(const ChunkEngine::Waiter& waiter, std::uint64_t deadline_ns);

  ChunkEngine& engine_;
  std::mutex inquiry_;  // held during a question to other nodes
  // Under the engine's mutex:
  std::unordered_map<std::uint64_t, std::uint32_t> in_barrier_;  // threads here, by the chunk
  ChunkEngine::Waiter* asking_ = nullptr;  // the thread that asks other nodes a question
  std::uint32_t questions_ = 0;
};

}  // namespace terrane::runtime::chunks
