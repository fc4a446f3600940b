#pragma once

#include <terrane/pages.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "image.h"
#include "solver.h"

namespace restore {

// Tells how far the solving is: one updating line on a terminal, a line every half second
// elsewhere.
class Progress {
 public:
  Progress();
  void show(const Convergence& state);
  // Ends an updating line; call it before anything else is printed.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
  bool line_open_ = false;
};

// Peak signal-to-noise ratio in dB over all samples; infinite for the same picture.
double psnr(const Image& original, const std::vector<std::uint8_t>& samples);

// What a node spent between two readings of its counters.
terrane_counters spent_between(const terrane_counters& before, const terrane_counters& after);

// ViSMI's breakdown, a line a node: computation is what is left of elapsed time x threads.
void print_breakdown(const terrane_counters* nodes, int count, std::uint32_t threads);

}  // namespace restore
