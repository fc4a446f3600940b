#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "transport/shm/area.h"
#include "transport/transport.h"
#include "transport/unique_fd.h"

namespace terrane::transport::shm {

// What a node of this host tells the others: where its inbound area and its regions are, and which
// process it is.
struct ShmCard {
  struct Region {
    UniqueFd fd;
    std::uint64_t bytes;
    std::byte* base = nullptr;  // where we have our own mapped already; does not travel
  };

  std::uint32_t pid = 0;
  std::uint64_t pid_namespace = 0;  // inode of the namespace that the pid belongs to; 0: unknown
  AreaShape shape;
  UniqueFd area;
  UniqueFd bell;  // of an owner that sleeps on descriptors
  std::vector<Region> regions;

  // This process, with copies of the regions' descriptors.
  static base::Result<ShmCard> of_this_process(AreaShape shape, UniqueFd area,
                                               std::span<const ExportedRegion> regions);

  Card encode() &&;
  // Refuses what no node of this version can have sent. Takes the descriptors, also when it fails.
  static base::Result<ShmCard> decode(Card card);
};

}  // namespace terrane::transport::shm
