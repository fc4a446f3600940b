#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/actor.h"
#include "sim/network.h"
#include "sim/schedule.h"

namespace terrane::sim {

// What a director sees of a history between two steps.
struct Scene {
  const std::vector<ActorId>& ready;  // actors that can act
  const std::vector<std::unique_ptr<Actor>>& actors;
  const Network& network;
  std::uint64_t hash;   // changes with each step that is complete
  std::uint64_t picks;  // how often an actor has acted
};

// Decides which actor acts next, in place of chance.
class Director {
 public:
  virtual ~Director() = default;
  // Returns one of scene.ready, or kNoActor to end the history.
  virtual ActorId pick(const Scene& scene) = 0;
};

}  // namespace terrane::sim
