#pragma once

#include "runtime/chunks/chunk_engine.h"

namespace terrane::runtime::chunks {

// The calls of work streams on an engine. Any thread may call.
class WorkCalls {
 public:
  using Answer = ChunkEngine::Answer;

  explicit WorkCalls(ChunkEngine& engine) : engine_(engine) {}

  // Deadlines: by platform::now_ns(); machine::kNever.
  Answer write(ChunkId chunk, Wait wait, std::uint64_t deadline_ns);
  Answer take(ChunkId chunk, Wait wait, std::uint64_t deadline_ns);
  Answer subscribe(ChunkId chunk, std::uint64_t credit);
  void unsubscribe(ChunkId chunk);
  Answer end(ChunkId chunk);
  // An open version that is being written; kEnded, kGone: it is given up.
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
  // Its home has left in order, which it does when the stream has ended and all is done.
  bool is_over(ChunkId chunk) const;
  const EngineCounters& counters() const { return engine_.counters_; }

  // Under the engine's mutex. "died" or "left".
  const char* fate(NodeId node) const;
  // At the home of a work stream; "" at other nodes. `cause`: it says why nothing comes.
  std::string state(ChunkId chunk, bool& cause) const;
  void tell_returned(const machine::WorkReturned& returned) const;

 private:
  const ChunkEngine& engine_;
};

}  // namespace terrane::runtime::chunks
