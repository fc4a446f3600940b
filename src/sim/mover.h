#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "sim/actor.h"
#include "sim/checker.h"
#include "sim/node.h"

namespace terrane::sim {

// One word of a difference as the simulator writes it into a flush message.
struct PostedWord {
  std::uint64_t value;
  std::uint32_t at;
  std::uint32_t bytes;  // which bytes of it, a bit each
};

// Performs the one-sided steps that touch blocks, views and words of peers, as the machine would.
// Steps that move bytes or go over ranges are performed in random pieces, between which other
// actors act. Throws a Violation where a real machine would refuse.
class Mover {
 public:
  // checker: is told what refreshes change.
  Mover(std::vector<Node>& nodes, Checker& checker);
  ~Mover();

  void begin(base::Prng& rng, const Setup& setup);
  // Continues the actor's step. True if the step is complete, and then it has its result.
  bool perform(Actor& actor);

 private:
  class Steps;

  std::unique_ptr<Steps> steps_;
};

}  // namespace terrane::sim
