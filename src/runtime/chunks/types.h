#pragma once

#include "runtime/chunks/chunk_node.h"

namespace terrane::runtime::chunks {

// The types of chunks' elements, as stated by programs. For each chunk with a type there is a chunk
// that programs do not see. Any thread may call. The node outlives it.
class Types {
 public:
  struct Type {
    std::string_view name;  // empty: not compared
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
  };

  explicit Types(ChunkNode& node) : node_(node) {}

  // The first statement about a chunk holds in the whole job. kMismatch: the first statement was
  // different; the message names both types and the node that made it.
  Outcome state(ChunkId chunk, const Type& type);

 private:
  ChunkNode& node_;
};

}  // namespace terrane::runtime::chunks
