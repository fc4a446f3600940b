#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "transport/transport.h"
#include "transport/ucx/door.h"

namespace terrane::transport::ucx {

// What a node tells the others so that they can send to it and reach its memory: where UCX finds
// its worker, the word that its peers put into every frame, the one that they show first where they
// connect, and its exported regions. A process
// that does not know the word is no node of this job.
struct UcxCard {
  struct Region {
    std::uint64_t bytes = 0;
    std::uint64_t base = 0;      // the address there
    std::vector<std::byte> key;  // for UCX; empty: UCX does not reach it
  };

  std::uint64_t token = 0;
  std::vector<std::byte> address = {};
  Door door = {};
  std::vector<Region> regions = {};

  Card encode() const;
  // Refuses what no node of this version can have sent. Closes descriptors, which it has no use
  // for.
  static base::Result<UcxCard> decode(const Card& card);
};

}  // namespace terrane::transport::ucx
