#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace terrane::runtime::shmem {

// The memory that every PE has, by the index under which the transport exports it.
enum class Part : std::uint32_t {
  kHeap = 0,     // memory for shmem_malloc
  kStatics = 1,  // the writable segments of the program and its libraries
  kControl = 2,  // flags and small data of barriers and collectives; zeros at start
};
constexpr std::uint32_t kParts = 3;

// A place in symmetric memory; the same on every PE.
struct SymmetricAddress {
  Part part = Part::kHeap;
  std::uint64_t offset = 0;  // bytes
};

// Finds the memory of other PEs: from an address here to the same symmetric object there. Owns
// nothing: the mappings exist as long as the World. Any thread may call at any time.
class SymmetricMemory {
 public:
  virtual ~SymmetricMemory() = default;

  // The place of our `address`; nullopt unless all `bytes` from there are in one symmetric part.
  virtual std::optional<SymmetricAddress> locate(const void* address,
                                                 std::uint64_t bytes) const = 0;
  // False: these bytes are heap memory that was freed or never allocated.
  virtual bool is_given(SymmetricAddress, std::uint64_t) const { return true; }
  // The address at which that place of `pe` is mapped here; nullptr: its memory is not in reach (on
  // another host). For ourselves: our own memory.
  virtual std::byte* at(NodeId pe, SymmetricAddress place) const = 0;
  // Whether loads and stores reach the memory of `pe`.
  virtual bool in_reach(NodeId pe) const = 0;
};

}  // namespace terrane::runtime::shmem
