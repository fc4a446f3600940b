#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.h"
#include "platform/mapping.h"
#include "transport/spin_lock.h"
#include "transport/unique_fd.h"

namespace terrane::transport {

// The exported regions of all nodes of this host: descriptors until they are reached, mappings from
// then on. Owns both.
class Regions {
 public:
  explicit Regions(std::uint32_t nodes) : nodes_(nodes) {}

  // The node's next region. Before the first reach(). `base`: where it is mapped already.
  void add(NodeId node, UniqueFd fd, std::uint64_t bytes, std::byte* base = nullptr);
  // Its size; 0 for a region that is not there.
  std::uint64_t bytes(NodeId node, std::uint32_t index) const;
  // Its memory here, mapped on first use; nullptr for a region that is not there or cannot be
  // mapped. Thread-safe.
  std::byte* reach(NodeId node, std::uint32_t index);

 private:
  struct Region {
    UniqueFd fd;
    std::uint64_t bytes = 0;
    platform::SharedMapping mapping;
    std::atomic<std::byte*> data{nullptr};
  };

  std::vector<std::deque<Region>> nodes_;
  SpinLock mapping_;  // held by the thread that maps
};

}  // namespace terrane::transport
