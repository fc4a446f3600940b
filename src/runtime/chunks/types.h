#pragma once

#include "runtime/chunks/chunk_node.h"

namespace terrane::runtime::chunks {

// The types of chunks' elements, as programs stated them: for each chunk with a type a chunk that
// programs do not see. Any thread may call. The node outlives it.
class Types {
 public:
  struct Type {
    std::string_view name;  // empty: not compared
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
  };

  explicit Types(ChunkNode& node) : node_(node) {}

  // The first statement about a chunk holds in the whole job. kMismatch: another one was made; the
  // message names both types and the node that stated the first.
  Outcome state(ChunkId chunk, const Type& type);

 private:
  ChunkNode& node_;
};

}  // namespace terrane::runtime::chunks
