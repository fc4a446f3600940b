#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "image.h"
#include "solver.h"

namespace restore {

// Tells how far the solving is, by one line that is redrawn on standard error, if that is a
// terminal.
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

}  // namespace restore
