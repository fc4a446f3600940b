#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace terrane::runtime::shmem {

// The bytes that this PE has put to PEs of other hosts and got from them, where somebody counts
// them. What lies in reach is stored and loaded, and not counted. Any thread.
class Traffic {
 public:
  struct With {
    std::atomic<std::uint64_t> sent{0}, came{0};
  };

  // From now on bytes are counted, for so many PEs. Once, before other threads call.
  void begin(std::uint32_t pes) { with_ = std::vector<With>(pes); }
  const std::vector<With>& with() const { return with_; }

  void sent(NodeId pe, std::uint64_t bytes) {
    if (!with_.empty()) with_[pe.value].sent.fetch_add(bytes, std::memory_order_relaxed);
  }
  void came(NodeId pe, std::uint64_t bytes) {
    if (!with_.empty()) with_[pe.value].came.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  std::vector<With> with_;
};

}  // namespace terrane::runtime::shmem
