#pragma once

#include <cstdint>
#include <string>

#include "outcome.h"

namespace lu {

struct Options {
  bool help = false;
  std::string matrix;          // empty: generated
  std::uint32_t generate = 0;  // rows
  double density = 1;
  std::uint64_t seed = 1;
  std::string rhs;            // empty: ones
  std::string output, write;  // empty: not written
  std::uint32_t threads = 1;
  bool compare = false;
};

extern const char* const kUsage;

Outcome<Options> parse_options(int argc, char** argv);

}  // namespace lu
