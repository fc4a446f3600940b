#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "base/ids.h"

namespace terrane::transport::shm {

inline constexpr std::uint32_t kMaxNodes = 512;

// A set of nodes in one cache line that many threads and processes change. All operations are
// seq_cst: set() after publishing and clear() before looking never miss each other.
class alignas(64) NodeBits {
 public:
  void set(NodeId node) noexcept {
    if ((word(node).load() & mask(node)) == 0) word(node).fetch_or(mask(node));
  }
  void clear(NodeId node) noexcept { word(node).fetch_and(~mask(node)); }
  bool any(std::uint32_t nodes) const noexcept {
    for (std::uint32_t i = 0; i * 64 < nodes; ++i) {
      if (words_[i].load() != 0) return true;
    }
    return false;
  }
  // Calls visit(NodeId) for every node below `nodes` that is in the set when its word is read.
  template <typename Visit>
  void for_each(std::uint32_t nodes, Visit visit) const {
    for (std::uint32_t i = 0; i * 64 < nodes; ++i) {
      for (std::uint64_t left = words_[i].load(); left != 0; left &= left - 1) {
        NodeId node{i * 64 + static_cast<std::uint32_t>(std::countr_zero(left))};
        if (node.value < nodes) visit(node);
      }
    }
  }

 private:
  std::atomic<std::uint64_t>& word(NodeId node) { return words_[node.value / 64]; }
  static std::uint64_t mask(NodeId node) { return std::uint64_t{1} << (node.value % 64); }

  std::atomic<std::uint64_t> words_[kMaxNodes / 64];
};
static_assert(sizeof(NodeBits) == 64);

}  // namespace terrane::transport::shm
