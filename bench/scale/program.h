#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "forecast/costs.h"

namespace terrane::bench::scale {

using forecast::Costs;
using forecast::Ns;

// One thing that a node's thread does. Pages are counted from the region's first.
struct Op {
  enum class Kind : std::uint8_t { kLoad, kStore, kAdd, kLock, kUnlock, kBarrier, kWork };
  Kind kind = Kind::kWork;
  std::uint64_t page = 0;   // kLock, kUnlock: the lock
  std::uint32_t from = 0;   // a word of the page
  std::uint32_t words = 0;  // kStore: so many of the page's words become `value`
  std::uint64_t value = 0;  // kLoad: what the word must be; kAdd: to that word
  Ns ns = 0;                // kWork
};

// What all nodes do in each iteration, the same for every run.
class Pattern {
 public:
  virtual ~Pattern() = default;
  virtual std::uint64_t pages(std::uint32_t nodes) const = 0;
  // So many first pages are a region of their own, whose copies are updated.
  virtual std::uint64_t updated() const { return 0; }
  // What one processor would compute in an iteration; 0: the pattern is no program's.
  virtual Ns computing() const { return 0; }
  // Appends what the node does. Iteration 0 is for first touches.
  virtual void iteration(std::uint32_t node, std::uint32_t nodes, std::uint32_t number,
                         std::vector<Op>& ops) const = 0;
};

inline constexpr std::uint32_t kPageWords = 8;  // simulated; each represents 512 bytes

// "barrier", "stencil", "transpose", "tree", "update" (a tree whose upper pages are updated),
// "broadcast", "migratory", "producer" ..., or one of the next; nullptr: unknown.
std::unique_ptr<Pattern> make_pattern(std::string_view name);
// "laplace", "ep", "bt", "sp" (kernels.cpp).
std::unique_ptr<Pattern> make_kernel(std::string_view name);

}  // namespace terrane::bench::scale
