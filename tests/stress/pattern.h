#pragma once

#include <cstdint>

namespace stress {

inline constexpr std::uint64_t kChunk = 256;  // bytes that are active together

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// What all threads of all nodes know without communication: which thread writes which byte of a
// table in which phase, and which value.
struct Pattern {
  std::uint64_t seed;
  unsigned writers;

  bool active(std::uint64_t phase, std::uint64_t chunk) const {
    return mix(seed ^ phase, chunk) % 3 == 0;
  }
  unsigned owner(std::uint64_t phase, std::uint64_t byte) const {
    std::uint64_t run = 1 + mix(seed + phase, byte / kChunk) % 9;
    return static_cast<unsigned>(mix(seed ^ (phase << 1), byte / run) % writers);
  }
  std::uint8_t value(std::uint64_t phase, std::uint64_t byte) const {
    return static_cast<std::uint8_t>(mix(seed + 3 * phase, byte));
  }
  // Bytes of even slots are written in even phases, while those of odd slots are read, and the
  // other way round.
  static bool is_written_in(std::uint64_t phase, std::uint64_t byte) {
    return (byte / 3 + phase) % 2 == 0;
  }
  // The last phase before this one that wrote what this phase reads in the chunk; 0: none did.
  std::uint64_t last_written(std::uint64_t phase, std::uint64_t chunk) const {
    for (std::uint64_t p = phase - 1; p > 0; --p)
      if ((p + phase) % 2 == 1 && active(p, chunk)) return p;
    return 0;
  }
};

}  // namespace stress
