#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace terrane::runtime::shmem {

// A stretch of a module's static data that is symmetric.
struct Segment {
  std::uintptr_t address = 0;  // here
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in Part::kStatics, the same on every PE
};

// Which static data is symmetric: from addresses here to offsets and back. Grows only. One thread
// adds at a time; any thread reads at any time, without a lock.
class SegmentDirectory {
 public:
  // Overlaps no segment that is there, neither by addresses nor by offsets.
  void add(const Segment& segment);

  // The offset of `address`, unless the `bytes` from it leave the segment that it lies in.
  std::optional<std::uint64_t> locate(std::uintptr_t address, std::uint64_t bytes) const;
  // The address of what lies at `offset`; nullptr where nothing does.
  std::byte* at(std::uint64_t offset) const;
  std::size_t size() const;

 private:
  struct Tables {
    std::vector<Segment> by_address, by_offset;
  };

  std::atomic<const Tables*> now_{nullptr};
  std::vector<std::unique_ptr<const Tables>> all_;  // a reader may still hold an old one
};

}  // namespace terrane::runtime::shmem
