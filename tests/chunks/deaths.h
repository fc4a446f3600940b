#pragma once

#include <atomic>
#include <cstdint>
#include <string>

// What deaths_program and its test share.
namespace terrane::chunks_test {

constexpr int kMostNodes = 8;
constexpr int kChunks = 40;

// A file that all nodes of a job map; it starts as zeros.
struct Account {
  std::atomic<int> deaths;   // that there will be
  std::atomic<int> ready;    // nodes that know all chunks
  std::atomic<int> through;  // nodes that live and are done
  std::atomic<int> dead[kMostNodes];
  std::atomic<std::uint64_t> done[kMostNodes][kChunks];  // writes that were released
};

// The last few are pushed to subscribers.
inline bool is_pushed(int chunk) { return chunk >= kChunks - 4; }
inline std::string name_of(int chunk) {
  return std::string(is_pushed(chunk) ? "pushed" : "kept").append(std::to_string(chunk));
}

}  // namespace terrane::chunks_test
