#pragma once

#include "sim/player.h"

namespace terrane::sim {

// Makes a failing program smaller, as long as some schedule makes the smaller one fail in the same
// way. Greedy: removes nodes, phases, threads, then runs of operations, until nothing more can go.
class Shrinker {
 public:
  Shrinker(History& history, const Program& program, std::uint64_t schedule_seed, Fault fault)
      : history_(history), best_(program), schedule_seed_(schedule_seed), fault_(fault) {}

  void run();
  const Program& program() const { return best_; }
  std::uint64_t schedule_seed() const { return schedule_seed_; }
  std::uint64_t tried() const { return tried_; }

 private:
  bool drop_nodes();
  bool drop_phases();
  bool drop_threads();
  bool drop_operations();
  bool drop_runs(std::uint32_t thread, std::size_t length);
  // Keeps the candidate if some schedule makes it fail in the same way.
  bool keep_if_failing();

  History& history_;
  Program best_;
  Program candidate_;
  std::uint64_t schedule_seed_;
  Fault fault_;
  std::uint64_t tried_ = 0;
};

// The program as text, thread by thread.
std::string describe(const Program& program);

}  // namespace terrane::sim
