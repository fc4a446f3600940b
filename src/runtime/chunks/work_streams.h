#pragma once

#include "runtime/chunks/chunk_node.h"

namespace terrane::runtime::chunks {

// A version of a work stream that is open on this node.
struct OpenVersion {
  ChunkId work;
  ScopeId scope;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;  // its length; while it is written, the longest possible
  std::uint64_t number = 0;
  machine::WorkVersion what;
};

// Work streams by name: the operations of the C interface, with their error messages. Any thread
// may call. The node outlives it.
class WorkStreams {
 public:
  explicit WorkStreams(ChunkNode& node) : node_(node) {}

  Outcome create(std::string_view name, std::uint64_t bytes, const machine::WorkShape& shape,
                 ChunkId& work, bool& existed);
  Outcome find(std::string_view name, std::int64_t timeout_ns, ChunkId& work);
  Outcome write(ChunkId work, std::int64_t timeout_ns, OpenVersion& version);
  Outcome publish(ChunkId work, ScopeId scope, std::uint64_t bytes, std::uint64_t tag);
  Outcome subscribe(ChunkId work, std::uint64_t credit);
  Outcome unsubscribe(ChunkId work);
  Outcome take(ChunkId work, std::int64_t timeout_ns, OpenVersion& version);
  Outcome end(ChunkId work);
  Outcome descriptor(ChunkId work, Readiness::Of what, int& fd);

 private:
  Outcome check(ChunkId work) const;
  Outcome failed(const ChunkEngine::Answer& answer, ChunkId work, std::string_view what,
                 std::int64_t timeout_ns) const;
  std::string title(ChunkId work) const;
  std::string describe(NodeId node) const;

  ChunkNode& node_;
};

}  // namespace terrane::runtime::chunks
