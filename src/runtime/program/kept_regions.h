#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace terrane::runtime {

// Regions of large blocks that the program has freed, for its next blocks of about that size. A
// program that allocates the same arrays in each step of time then finds their pages present, and
// at home where they were used before. Knows nothing of the memory itself. Owns its table; not
// thread-safe.
class KeptRegions {
 public:
  struct Region {
    std::uintptr_t begin;
    std::uint64_t bytes;
  };

  // most: bytes that are kept.
  explicit KeptRegions(std::uint64_t most) : most_(most) {}

  // Keeps a region; the result: those that it has no more room for, which are the caller's to free.
  std::vector<Region> put(Region region);
  // A region of at least so many bytes, and of an eighth more at most; nullopt: there is none. The
  // one kept last, of equal ones.
  std::optional<Region> take(std::uint64_t bytes);
  // All of them, which are the caller's to free.
  std::vector<Region> take_all();

 private:
  static constexpr std::size_t kMost = 64;  // regions

  const std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  std::vector<Region> regions_;  // the one kept first is the first
};

}  // namespace terrane::runtime
