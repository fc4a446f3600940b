#pragma once

#include <vector>

#include "sim/generate.h"

namespace terrane::sim {

// Phases in which threads synchronise by plain loads and stores of words, by fences, and by atomic
// instructions: message passing, spin locks, and Peterson's algorithm (Myths about the mutual
// exclusion problem, 1981), which needs one order of two words.
struct Generator::Signals {
  Generator& all;

  // In some programs. Also draws whether the program has one order of all loads and stores; then
  // its words need not be promoted. Returns the number of these phases.
  std::uint32_t draw(base::Prng& rng, std::uint32_t phase);
  // Returns the number of these phases.
  std::uint32_t add(base::Prng& rng, std::uint32_t phase);
  std::vector<Op> draw_flags(std::uint32_t count, std::uint32_t phase);
  void chain(std::uint32_t phase);
  void exclude_by_spinning(std::uint32_t phase);
  void exclude_by_turns(std::uint32_t phase);
  // A chain whose words are not promoted: each thread makes fences around its loads and stores.
  void chain_by_fences(std::uint32_t phase);
  // Of a program that is drawn: fences among all that its threads do.
  void add_fences(base::Prng& rng);
  void flag(std::uint32_t thread, std::uint32_t phase, OpKind kind, const Op& word,
            std::uint64_t value = 0);
};

}  // namespace terrane::sim
