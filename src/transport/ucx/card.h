#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "transport/transport.h"

namespace terrane::transport::ucx {

// What a node tells the others so that they can send to it: where UCX finds its worker, and the
// word that its peers put into every frame. Who does not know the word is no node of this job.
struct UcxCard {
  std::uint64_t token = 0;
  std::vector<std::byte> address;

  Card encode() const;
  // Refuses what no node of this version can have sent. Closes descriptors, which it has no use
  // for.
  static base::Result<UcxCard> decode(const Card& card);
};

}  // namespace terrane::transport::ucx
