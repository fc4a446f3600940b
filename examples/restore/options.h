#pragma once

#include <cstdint>
#include <string>

#include "outcome.h"
#include "solver.h"

namespace restore {

struct Options {
  bool help = false;
  std::string photograph;
  std::string mask;  // empty: damage made from the seed
  std::uint64_t seed = 1;
  std::string output = ".";
  std::uint32_t threads = 1;
  SolverSettings solver;
};

extern const char* const kUsage;

Outcome<Options> parse_options(int argc, char** argv);

}  // namespace restore
