#pragma once

#include "protocol/hlrc/acquires.h"
#include "protocol/hlrc/releases.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Fences: a release and an acquire without a lock, as OpenMP's flush. What the threads of a node
// have written or known when one of them begins a fence, every thread sees that begins a fence
// after this one has ended. A fence ends when all nodes have heard of it, or see that they have to
// wait for it. One that finds nothing new sends nothing.
class Fences {
 public:
  Fences(NodeState& node, Releases& releases, Acquires& acquires)
      : node_(node), releases_(releases), acquires_(acquires) {}
  Fences(const Fences&) = delete;

  // Result: whether it told or heard anything.
  Task<bool> fence(Strand& s);

 private:
  Task<bool> hear(Strand& s);
  Task<> tell_counted(Strand& s);
  Task<> await_counted(Strand& s);
  Task<> await_others(Strand& s);

  NodeState& node_;
  Releases& releases_;
  Acquires& acquires_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
