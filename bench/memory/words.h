// What the programs of ./run bench memory do with words of memory, and how they say it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace words {

constexpr std::size_t kPageWords = 4096 / sizeof(std::uint64_t);

// The word at a place, after fill().
inline std::uint64_t right(std::uint64_t place) { return (place + 1) * 0x9e3779b97f4a7c15U; }

// As good as random.
inline std::uint64_t mix(std::uint64_t number) {
  number = (number ^ (number >> 33)) * 0xff51afd7ed558ccdU;
  number = (number ^ (number >> 33)) * 0xc4ceb9fe1a85ec53U;
  return number ^ (number >> 33);
}

inline void fill(std::uint64_t* memory, std::size_t from, std::size_t to) {
  for (std::size_t place = from; place < to; ++place) memory[place] = right(place);
}

// The number of wrong words.
inline std::size_t sweep(const std::uint64_t* memory, std::size_t from, std::size_t to) {
  std::size_t wrong = 0;
  for (std::size_t place = from; place < to; ++place) wrong += memory[place] != right(place);
  return wrong;
}

// So many words at random places; other ones for each `self`.
inline std::size_t look_up(const std::uint64_t* memory, std::size_t count, std::size_t lookups,
                           std::uint64_t self) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < lookups; ++i) {
    std::size_t place = mix(self << 40 | i) % count;
    wrong += memory[place] != right(place);
  }
  return wrong;
}

// A word of each of `pages` different pages of the first `count` words, in no order.
inline std::size_t visit(const std::uint64_t* memory, std::size_t count, std::size_t pages) {
  std::vector<std::uint32_t> order(count / kPageWords);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mix(i) % i]);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < std::min(pages, order.size()); ++i) {
    std::size_t place = order[i] * kPageWords + mix(i) % kPageWords;
    wrong += memory[place] != right(place);
  }
  return wrong;
}

// Prints name=seconds for each part of the run: the time since the last one.
class Watch {
 public:
  void lap(const char* part) {
    auto now = std::chrono::steady_clock::now();
    std::printf("%s=%.6f ", part, std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Ends the line; the program's exit code.
inline int verdict(std::size_t wrong) {
  std::printf("wrong=%zu\n", wrong);
  return wrong == 0 ? 0 : 1;
}

inline std::size_t number(int argc, char** argv, int at, std::size_t otherwise) {
  return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
}

}  // namespace words
