#pragma once

#include <cstdint>

#include "protocol/predict/heuristics.h"
#include "scale/program.h"

namespace terrane::bench::scale {

struct Result {
  Ns per_iteration = 0;
  double messages = 0;  // a node and iteration, of all nodes
  double bytes = 0;
  double faults = 0;
  double fetched = 0;
  double most_received = 0;        // messages a node and iteration, of the busiest
  std::int64_t most_memory = 0;    // bytes of the protocol at once, of the node that had most
  std::uint64_t most_entries = 0;  // pages of which a node knows anything, of the same kind
};

// A pattern on many nodes in virtual time (forecast/machine.h), each with one thread and a
// processor for it. Ends the program with a sentence where a load returns what it must not.
class Machine {
 public:
  Machine(std::uint32_t nodes, const Pattern& pattern, const Costs& costs,
          const protocol::Prediction& prediction = {})
      : nodes_(nodes), pattern_(pattern), costs_(costs), prediction_(prediction) {}

  // After `warm` iterations that do not count.
  Result run(std::uint32_t warm, std::uint32_t counted);

 private:
  const std::uint32_t nodes_;
  const Pattern& pattern_;
  const Costs costs_;
  const protocol::Prediction prediction_;
};

}  // namespace terrane::bench::scale
