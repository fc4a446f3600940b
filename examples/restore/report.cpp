#include "report.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace restore {

Progress::Progress() : terminal_(isatty(STDOUT_FILENO) != 0) {}

void Progress::show(const Convergence& state) {
  const Clock::time_point now = Clock::now();
  const auto pause = std::chrono::milliseconds(terminal_ ? 50 : 500);
  if (!state.converged && now - shown_ < pause) return;
  shown_ = now;
  const std::chrono::duration<double> elapsed = now - start_;
  std::printf("%siteration %6u   largest change %11.6f   %6.2f s%s", terminal_ ? "\r" : "",
              state.iterations, state.change, elapsed.count(), terminal_ ? "" : "\n");
  std::fflush(stdout);
  line_open_ = terminal_;
}

void Progress::finish() {
  if (line_open_) std::printf("\n");
  line_open_ = false;
}

double psnr(const Image& original, const std::vector<std::uint8_t>& samples) {
  double sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double difference = double{1} * original.samples[i] - samples[i];
    sum += difference * difference;
  }
  if (sum == 0) return INFINITY;
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(samples.size()) / sum);
}

}  // namespace restore
