#pragma once

#include <cstdint>
#include <vector>

#include "rows.h"

namespace restore {

// Grain for the middle of large damage, where the solution of Laplace's equation is as smooth as no
// photograph: the fine detail of a similar place nearby is added to it. Every worker makes one of
// the same picture and solution, and finds the same.
class Healing {
 public:
  // solution: of the whole picture, complete. Both must stay.
  Healing(const Damaged& picture, const double* solution);

  // What is added to the solution at a damaged pixel's sample; 0 near its edge.
  double grain(std::uint32_t x, std::uint32_t y, std::uint32_t channel) const;

 private:
  // The middle of one blot: the pixels with its label. Its grain comes from (dx, dy) away.
  struct Middle {
    std::uint32_t left, right, top, bottom;  // inclusive
    std::int32_t dx = 0, dy = 0;
  };

  void measure_depths();
  void label_middles();
  void spread(std::uint32_t x, std::uint32_t y);
  void choose_source(std::size_t middle);
  double difference(const Middle& middle, std::uint32_t label, std::int32_t dx,
                    std::int32_t dy) const;
  double mean_around(std::int64_t x, std::int64_t y, std::uint32_t channel) const;
  std::size_t at(std::int64_t x, std::int64_t y) const;

  Damaged picture_;
  const double* solution_;
  std::vector<std::uint16_t> depth_;  // of each pixel: thirds of a pixel to the nearest known one
  std::vector<std::uint32_t> label_;  // of each pixel: its middle's number + 1; 0: none
  std::vector<Middle> middles_;
};

}  // namespace restore
