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
inline constexpr double kBlockNs = 5e6;

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

// How often in a block: `most`, or fewer if so many calls would take longer than kBlockNs.
inline long rounds_of(double ns_a_call) {
  return std::clamp(static_cast<long>(kBlockNs / std::max(ns_a_call, 1.0)), 4L, 3000L);
}

// Something that all processes do together: `body` again and again in a block, blocks apart by
// `meet`. agree(n) gives everybody process 0's n. Process 0 prints the median over the blocks.
template <typename Body, typename Meet, typename Agree>
void measure_together(const char* name, std::size_t bytes, bool prints, Body body, Meet meet,
                      Agree agree) {
  constexpr int kTried = 4;
  auto block_ns = [&](long rounds) {
    meet();
    double start = now_ns();
    for (long i = 0; i < rounds; ++i) body();
    return (now_ns() - start) / static_cast<double>(rounds);
  };
  body();
  const long rounds = agree(rounds_of(block_ns(kTried)));
  std::vector<double> blocks;
  for (int block = 0; block < kBlocks; ++block) blocks.push_back(block_ns(rounds));
  if (prints) print_row(name, "none", bytes, median(blocks));
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
