#pragma once

#include "runtime/chunks/chunk_engine.h"

namespace terrane::runtime::chunks {

// An engine's calls for work streams. Any thread may call.
class WorkCalls {
 public:
  using Answer = ChunkEngine::Answer;

  explicit WorkCalls(ChunkEngine& engine) : engine_(engine) {}

  // Deadlines are times of platform::now_ns(), or machine::kNever.
  Answer write(ChunkId chunk, Wait wait, std::uint64_t deadline_ns);
  Answer take(ChunkId chunk, Wait wait, std::uint64_t deadline_ns);
  Answer subscribe(ChunkId chunk, std::uint64_t credit);
  void unsubscribe(ChunkId chunk);
  Answer end(ChunkId chunk);
  // Publishes an open version that is being written. kEnded, kGone: the version is discarded.
  enum class Published : std::uint8_t { kYes, kNotOpen, kTooLong, kEnded, kGone };
  Published publish(ScopeId scope, std::uint64_t bytes, std::uint64_t tag);

 private:
  ChunkEngine& engine_;
};

// What an engine knows of work streams and of their nodes.
class WorkFacts {
 public:
  explicit WorkFacts(const ChunkEngine& engine) : engine_(engine) {}

  NodeId home(ChunkId chunk) const;  // kNoNode: not decided, or not known
  // Whether its home has left in order, as it does when the stream has ended and all work is done.
  bool is_over(ChunkId chunk) const;
  const EngineCounters& counters() const { return engine_.counters_; }

  // "died" or "left". Under the engine's mutex.
  const char* fate(NodeId node) const;
  // A sentence about a work stream with its home here; "" at other nodes. cause: it explains why no
  // version comes.
  std::string state(ChunkId chunk, bool& cause) const;
  void tell_returned(const machine::WorkReturned& returned) const;

 private:
  const ChunkEngine& engine_;
};

}  // namespace terrane::runtime::chunks
