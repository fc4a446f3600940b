#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// What the programs of all sides measure in the same way. A row is printed as
//   row=NAME memory=heap|statics|none bytes=N ns=X
namespace terrane::bench::sides {

inline constexpr std::size_t kMostBytes = std::size_t{64} << 20;
inline constexpr std::size_t kSumBytes = std::size_t{1} << 20;
inline constexpr int kTurns = 7;
inline constexpr int kBlocks = 15;
inline constexpr double kTurnNs = 1e6;

inline double now_ns() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

inline void print_row(const std::string& name, const char* memory, std::size_t bytes, double ns) {
  std::printf("row=%s memory=%s bytes=%zu ns=%.2f\n", name.c_str(), memory, bytes, ns);
  std::fflush(stdout);
}

inline double median(std::vector<double>& values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Something that one process does alone.
struct Row {
  std::string name;
  const char* memory;
  std::size_t bytes;
  std::function<void(long)> repeat;  // so many times
  std::vector<double> ns{};
};

// call(i), again and again; each call looks up its addresses anew, as one alone would.
template <typename Call>
Row row(std::string name, const char* memory, std::size_t bytes, Call call) {
  return {std::move(name), memory, bytes, [call](long times) {
            for (long i = 0; i < times; ++i) {
              call(i);
              __asm__ __volatile__("" ::: "memory");
            }
          }};
}

inline double time_once(const Row& row, long times) {
  double start = now_ns();
  row.repeat(times);
  return (now_ns() - start) / static_cast<double>(times);
}

// Measures the rows in turn, so that all meet the same moods of the machine, and prints medians.
inline void measure(std::vector<Row>& rows) {
  for (int turn = -1; turn < kTurns; ++turn) {
    for (Row& row : rows) {
      double once = time_once(row, 1);
      long times = std::max(1L, static_cast<long>(kTurnNs / std::max(once, 20.0)));
      double ns = time_once(row, times);
      if (turn >= 0) row.ns.push_back(ns);
    }
  }
  for (Row& row : rows) print_row(row.name, row.memory, row.bytes, median(row.ns));
}

// 1 B, 2 B, ... most: every power of two.
template <typename Use>
void for_each_size(std::size_t most, Use use) {
  for (std::size_t bytes = 1; bytes <= most; bytes *= 2) use(bytes);
}

// Something that all processes do together: `body` so often in a block, blocks apart by `meet`;
// process 0 prints the median over the blocks.
template <typename Body, typename Meet>
void measure_together(const char* name, std::size_t bytes, int rounds, bool prints, Body body,
                      Meet meet) {
  std::vector<double> blocks;
  body();
  for (int block = 0; block < kBlocks; ++block) {
    meet();
    double start = now_ns();
    for (int i = 0; i < rounds; ++i) body();
    blocks.push_back((now_ns() - start) / rounds);
  }
  if (prints) print_row(name, "none", bytes, median(blocks));
}

// How often in a block: fewer where the processes are more than the processors.
inline int rounds_of(bool crowded, std::size_t bytes) {
  int most = crowded ? 200 : 3000;
  double share = std::min(1.0, 2048.0 / static_cast<double>(std::max<std::size_t>(bytes, 1)));
  return std::max(4, static_cast<int>(most * share));
}

// memcpy of a sum's bytes, by one process while the others sleep.
inline void measure_memcpy(char* to, const char* from) {
  std::vector<Row> rows;
  rows.push_back(row("memcpy", "none", kSumBytes, [=](long) { std::memcpy(to, from, kSumBytes); }));
  measure(rows);
}

inline volatile long sink;                  // keeps results
inline volatile std::size_t unknown_bytes;  // to the compiler: nobody's copy is inlined

}  // namespace terrane::bench::sides
