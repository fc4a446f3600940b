#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "base/unique_fd.h"
#include "protocol/chunks/chunk_effects.h"

namespace terrane::runtime::chunks {

// Descriptors that are readable for poll(2) when a call on a work stream may succeed. Any thread
// may call.
class Readiness {
 public:
  enum class Of : std::uint8_t { kTake, kWrite };

  // The descriptor is readable at first. -1: the system gives none (errno).
  int descriptor(protocol::chunks::ChunkId chunk, Of what);
  // raise(): a call may succeed. clear(): a call is about to be made, which finds out.
  void raise(protocol::chunks::ChunkId chunk, Of what);
  void clear(protocol::chunks::ChunkId chunk, Of what);

 private:
  std::mutex mutex_;
  std::map<std::pair<protocol::chunks::ChunkId, Of>, base::UniqueFd> all_;
};

}  // namespace terrane::runtime::chunks
