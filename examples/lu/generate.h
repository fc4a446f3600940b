#pragma once

#include <cstdint>

#include "matrix.h"

namespace lu {

// A matrix from a seed, the same on every machine. Each place has, with the probability `density`,
// a number of [-1, 1); besides, each row has 1 to 2 added in a column of its own (a random
// permutation), so that a sparse one is seldom singular and its diagonal is of no use as pivots.
Matrix generate(std::uint32_t size, double density, std::uint64_t seed);

}  // namespace lu
