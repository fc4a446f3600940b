#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace terrane::runtime::shmem {

// The stretches of memory that every PE has, by the index under which the transport exports them.
enum class Part : std::uint32_t {
  kHeap = 0,     // what shmem_malloc gives
  kStatics = 1,  // the writable segments of the program and its libraries
  kControl = 2,  // our own: flags and small data of barriers and collectives; zeros at start
};
constexpr std::uint32_t kParts = 3;

// A place that is the same on every PE.
struct SymmetricAddress {
  Part part = Part::kHeap;
  std::uint64_t offset = 0;  // bytes
};

// Finds the memory of other PEs: from an address here to the same symmetric object there. Owns
// nothing: the mappings live as long as the World. Reads only; any thread at any time.
class SymmetricMemory {
 public:
  virtual ~SymmetricMemory() = default;

  // What `address` of ours is, or nullopt unless all `bytes` from it lie in one symmetric part.
  virtual std::optional<SymmetricAddress> locate(const void* address,
                                                 std::uint64_t bytes) const = 0;
  // False where these bytes were given to nobody: heap memory that was freed, or never asked for.
  virtual bool is_given(SymmetricAddress, std::uint64_t) const { return true; }
  // That place at `pe`, mapped here; nullptr where the memory of `pe` is not in reach (on another
  // host). Our own for ourselves.
  virtual std::byte* at(NodeId pe, SymmetricAddress place) const = 0;
  // Whether loads and stores reach the memory of `pe`.
  virtual bool in_reach(NodeId pe) const = 0;
};

}  // namespace terrane::runtime::shmem
