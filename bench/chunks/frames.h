#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// What the sides share: frames that carry the time when they were whole, and rows.
namespace terrane::bench::frames {

inline std::uint64_t now_ns() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);  // the same for all processes of a host
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// All of it is written; the last thing is the time.
inline void fill(char* frame, std::size_t bytes, int number) {
  std::memset(frame, number & 127, bytes);
  std::uint64_t now = now_ns();
  std::memcpy(frame, &now, sizeof now);
}

// Since it was whole; call when it may be read. Looks that it is the right one.
inline std::uint64_t age_ns(const char* frame, std::size_t bytes, int number) {
  std::uint64_t now = now_ns(), then = 0;
  if (frame[bytes - 1] != static_cast<char>(number & 127)) std::abort();
  std::memcpy(&then, frame, sizeof then);
  return now - then;
}

inline std::uint64_t percentile(std::vector<std::uint64_t>& values, double part) {
  if (values.empty()) return 0;
  auto at =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Looks at every byte, as a consumer would.
inline void read_whole(const char* frame, std::size_t bytes, int number) {
  std::uint64_t sum = 0, word = 0;
  for (std::size_t at = sizeof word; at + sizeof word <= bytes; at += sizeof word) {
    std::memcpy(&word, frame + at, sizeof word);
    sum += word;
  }
  std::memset(&word, number & 127, sizeof word);
  if (sum != word * ((bytes / sizeof word) - 1)) std::abort();
}

// The processor time of this process so far, all threads.
inline std::uint64_t cpu_ns() {
  timespec time;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// What a process does with frames: how old each is when it has it, and the processor time.
class Account {
 public:
  // whole: a frame is had when every byte has been read.
  Account(std::size_t bytes, bool whole) : bytes_(bytes), whole_(whole) {}

  void begin() { cpu_from_ns_ = cpu_ns(); }
  void take(const char* frame, int number) {
    std::uint64_t from = now_ns(), age = age_ns(frame, bytes_, number);
    if (whole_) read_whole(frame, bytes_, number);
    ages_.push_back(whole_ ? age + now_ns() - from : age);
  }
  // Of this subscriber the slowest counts; of processor time, the sum.
  void print(int frames) {
    std::uint64_t cpu = (cpu_ns() - cpu_from_ns_) / static_cast<std::uint64_t>(frames);
    if (!ages_.empty())
      std::printf("row=readable bytes=%zu ns=%lu\n", bytes_,
                  static_cast<unsigned long>(percentile(ages_, 0.5)));
    std::printf("row=cpu bytes=%zu ns=%lu\n", bytes_, static_cast<unsigned long>(cpu));
    std::fflush(stdout);
  }

 private:
  std::size_t bytes_;
  bool whole_;
  std::uint64_t cpu_from_ns_ = 0;
  std::vector<std::uint64_t> ages_;
};

}  // namespace terrane::bench::frames
