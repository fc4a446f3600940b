#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace terrane::runtime {

// Regions of large blocks that the program has freed, kept for new blocks of about the same size. A
// program that allocates the same arrays in each time step then finds their pages present, and with
// the same homes. Never touches the memory itself. Owns its table; not thread-safe.
class KeptRegions {
 public:
  struct Region {
    std::uintptr_t begin;
    std::uint64_t bytes;
  };

  // most: bytes to keep.
  explicit KeptRegions(std::uint64_t most) : most_(most) {}

  // Keeps a region. Returns the regions for which there is no more room; the caller frees them.
  std::vector<Region> put(Region region);
  // The smallest kept region that has at least `bytes` and at most an eighth more; nullopt: none.
  // Of equal ones the one that was kept last.
  std::optional<Region> take(std::uint64_t bytes);
  // Removes and returns all regions; the caller frees them.
  std::vector<Region> take_all();

 private:
  static constexpr std::size_t kMost = 64;  // regions

  const std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  std::vector<Region> regions_;  // the oldest first
};

}  // namespace terrane::runtime
