#include "report.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace restore {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const Convergence& state) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (!state.converged && now - shown_ < std::chrono::milliseconds(50)) return;
  shown_ = now;
  const std::chrono::duration<double> elapsed = now - start_;
  std::fprintf(stderr, "\riteration %6u   largest change %11.6f   %6.2f s", state.iterations,
               state.change, elapsed.count());
  line_open_ = true;
}

void Progress::finish() {
  if (line_open_) std::fprintf(stderr, "\n");
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
