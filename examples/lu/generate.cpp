#include "generate.h"

#include <numeric>
#include <utility>

#include "support/random.h"

namespace lu {

Matrix generate(std::uint32_t size, double density, std::uint64_t seed) {
  example::Random random(seed);
  std::vector<std::uint32_t> column(size);
  std::iota(column.begin(), column.end(), 0u);
  for (std::uint32_t i = size; i-- > 1;) {
    std::swap(column[i], column[static_cast<std::uint32_t>(random.count(0, static_cast<int>(i)))]);
  }
  Matrix matrix{size, {}};
  for (std::uint32_t row = 0; row < size; ++row) {
    matrix.entries.push_back({row, column[row], random.between(1, 2)});
    for (std::uint32_t c = 0; c < size; ++c) {
      if (random.between(0, 1) < density) matrix.entries.push_back({row, c, random.between(-1, 1)});
    }
  }
  matrix.sort_and_merge();
  return matrix;
}

}  // namespace lu
