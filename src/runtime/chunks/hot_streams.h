#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "bootstrap/node_snapshot.h"
#include "protocol/chunks/chunk_effects.h"

namespace terrane::runtime::chunks {

using protocol::chunks::ChunkId;

// What a node has written and taken of each chunk, from begin() on: while somebody watches the
// node. Any thread may call.
class HotStreams {
 public:
  void begin() { counts_now_.store(true, std::memory_order_relaxed); }
  void written(ChunkId chunk, std::uint64_t bytes) {
    if (counts_now_.load(std::memory_order_relaxed)) note(chunk, 1, bytes, 0, 0);
  }
  // A thread has taken a version, for which it has waited so long.
  void taken(ChunkId chunk, std::uint64_t waited_ns) {
    if (counts_now_.load(std::memory_order_relaxed)) note(chunk, 0, 0, 1, waited_ns);
  }
  // At most `most`, those of most versions of late first. What was before counts half as much
  // after each call.
  std::vector<bootstrap::StreamSnapshot> busiest(std::size_t most,
                                                 const std::function<std::string(ChunkId)>& name);

 private:
  static constexpr std::size_t kMostChunks = 1 << 16;  // further ones are not counted

  struct Stream {
    bootstrap::StreamCounts counts, seen;
    std::uint64_t heat = 0;
  };
  void note(ChunkId chunk, std::uint64_t written, std::uint64_t bytes, std::uint64_t taken,
            std::uint64_t waited_ns);

  std::atomic<bool> counts_now_{false};
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Stream> streams_;  // by chunk
};

}  // namespace terrane::runtime::chunks
