#pragma once

#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The release and the acquire that go with a synchronisation page when it passes from node to node.
class Ordering {
 public:
  // All that this node's threads have stored is at its homes, and known as an interval.
  virtual Task<> release_all(Strand& s) = 0;
  // Acquires what `node` has released. This node itself: it knows all notices that there are, and
  // only drops leases.
  virtual Task<> acquire_from(Strand& s, NodeId node) = 0;

 protected:
  ~Ordering() = default;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
