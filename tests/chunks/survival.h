#pragma once

#include <atomic>
#include <cstdint>
#include <string>

// What survival_program and its test on several hosts share.
namespace terrane::survival {

constexpr int kNodes = 8;
constexpr int kChunks = 40;

// A file that all nodes of a job map, and the test; it starts as zeros.
struct Account {
  std::atomic<int> stop;                             // no more writes
  std::atomic<int> print;                            // all that live have stopped
  std::atomic<int> ready[kNodes];                    // it knows all chunks
  std::atomic<int> stopped[kNodes];                  // it writes no more
  std::atomic<std::uint64_t> done[kNodes][kChunks];  // writes that were acknowledged
};

// The last few are pushed to their readers.
inline bool is_pushed(int chunk) { return chunk >= kChunks - 4; }
inline std::string name_of(int chunk) {
  return std::string(is_pushed(chunk) ? "pushed" : "kept").append(std::to_string(chunk));
}

}  // namespace terrane::survival
