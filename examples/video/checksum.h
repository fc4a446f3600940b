#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace video {

// A checksum of bytes in their order, for comparison between implementations; not a secret one.
class Checksum {
 public:
  // Four lanes, so that it takes a fraction of the time of the kernel.
  void add(const std::uint8_t* bytes, std::size_t count) {
    std::size_t at = 0;
    for (; at + 32 <= count; at += 32) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + at + 8 * lane, 8);
        lanes_[lane] = mix(lanes_[lane], word);
      }
    }
    for (; at < count; ++at) lanes_[at % 4] = mix(lanes_[at % 4], bytes[at]);
  }

  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (std::uint64_t lane : lanes_) all = mix(all, lane);
    return all ^ (all >> 31);
  }

 private:
  static std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
    return std::rotl(sum ^ word, 29) * 0x9e3779b97f4a7c15;
  }
  std::uint64_t lanes_[4] = {1, 2, 3, 4};
};

}  // namespace video
