#include "result.h"

#include <cstdio>

namespace video {

void print_result(const char* implementation, const Source& source, std::uint64_t frames,
                  std::uint64_t sum, double seconds) {
  std::printf("input: %s\n", source.way());
  print_result(implementation, source.shape(), frames, sum, seconds);
}

void print_result(const char* implementation, Shape shape, std::uint64_t frames, std::uint64_t sum,
                  double seconds) {
  std::printf(
      "row=result implementation=%s width=%u height=%u frames=%llu sum=%016llx seconds=%.6f\n",
      implementation, shape.width, shape.height, static_cast<unsigned long long>(frames),
      static_cast<unsigned long long>(sum), seconds);
  std::fflush(stdout);
}

}  // namespace video
