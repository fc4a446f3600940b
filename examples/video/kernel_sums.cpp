// Prints the checksum of every kernel of this processor over pictures of many sizes, which must be
// the same: neon_test.sh compares those of arm64 with those of this machine.
#include <cstdio>

#include "checksum.h"
#include "kernel.h"

int main() {
  for (const video::Kernel& kernel : video::kernels()) {
    video::Checksum sum;
    for (std::uint32_t width = 1; width < 200; ++width) {
      const video::Shape shape{width, 5};
      std::vector<std::uint8_t> in(shape.bytes()), out(shape.bytes());
      std::uint32_t grain = width;
      for (std::uint8_t& byte : in) {
        grain = grain * 1664525 + 1013904223;
        byte = static_cast<std::uint8_t>((grain >> 30) == 0   ? 0
                                         : (grain >> 30) == 1 ? 255
                                                              : grain >> 20);
      }
      video::convolve(kernel, shape, in.data(), out.data());
      sum.add(out.data(), out.size());
    }
    std::printf("%s %016llx\n", kernel.name, static_cast<unsigned long long>(sum.value()));
  }
  return 0;
}
