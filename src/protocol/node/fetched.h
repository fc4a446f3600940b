#pragma once

#include <cstdint>

#include "base/ids.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The result of a fetch: the first blocks of a run, and the node that sent them or has them.
struct Fetched {
  NodeId home;
  std::uint64_t count = 0;
  bool own = false;              // this node has become their home
  std::uint64_t subscribed = 0;  // 1 + the barrier exit after which they are pushed; 0: never
  std::uint64_t tracked = 0;     // a bit for each tracked block, if staged or by message
  std::uint64_t same = 0;        // a bit for each block that is not staged: the copy is current
  bool pushed = false;           // by a push or an arrival, with versions
  std::uint64_t same_owner = 1;  // if count is 0: for how many blocks `home` is the node to ask
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
