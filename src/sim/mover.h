#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "sim/actor.h"
#include "sim/node.h"

namespace terrane::sim {

// One word of a difference as the simulator writes it into a flush message.
struct PostedWord {
  std::uint64_t value;
  std::uint32_t at;
  std::uint32_t bytes;  // which of it, a bit each
};

// Performs the one-sided steps that touch blocks, views and peers' words, as the machine would:
// those that move bytes or go over ranges in random pieces, between which others act. Refuses
// (Violation) what a real machine would refuse.
class Mover {
 public:
  explicit Mover(std::vector<Node>& nodes);
  ~Mover();

  void begin(base::Prng& rng, const Setup& setup);
  // Goes on with the actor's step; true when it is complete, with its result.
  bool perform(Actor& actor);

 private:
  class Steps;

  std::unique_ptr<Steps> steps_;
};

}  // namespace terrane::sim
