#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace terrane::runtime::shmem {

// A part of a module's static data that is symmetric.
struct Segment {
  std::uintptr_t address = 0;  // in this process
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in Part::kStatics, the same on every PE
};

// Which static data is symmetric: converts addresses of this process to offsets and back. It only
// grows. One thread at a time adds; any thread reads at any time, without a lock.
class SegmentDirectory {
 public:
  // Adds a segment that overlaps no other one, neither by addresses nor by offsets.
  void add(const Segment& segment);

  // The offset of `address`; nullopt unless all `bytes` from there are in one segment.
  std::optional<std::uint64_t> locate(std::uintptr_t address, std::uint64_t bytes) const;
  // The address of `offset`; nullptr: no segment has it.
  std::byte* at(std::uint64_t offset) const;
  std::size_t size() const;

 private:
  struct Tables {
    std::vector<Segment> by_address, by_offset;
  };

  std::atomic<const Tables*> now_{nullptr};
  std::vector<std::unique_ptr<const Tables>> all_;  // a reader may still use an old one
};

}  // namespace terrane::runtime::shmem
