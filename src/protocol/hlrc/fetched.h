#pragma once

#include <cstdint>

#include "base/ids.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The first blocks of a run, where they were found.
struct Fetched {
  NodeId home;
  std::uint64_t count = 0;
  bool own = false;              // this node is their home by that
  std::uint64_t subscribed = 0;  // for departures after the one of this number - 1; 0: not
  std::uint64_t tracked = 0;     // a bit for each; of what is staged
  std::uint64_t same = 0;        // ... that does not lie there: the copy is what the home has
  bool pushed = false;           // by a push's versions
  std::uint64_t same_owner = 1;  // where none came: for how many `home` is the node to ask
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
