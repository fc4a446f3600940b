#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel.h"
#include "outcome.h"

namespace video {

// The command line, the same for all implementations.
struct Options {
  bool help = false;
  std::string input;
  std::string output;  // "": nothing but the checksum
  std::string with;    // the implementation; "": the program's default
  std::string kernel = "best";
  std::string endpoint = "ipc";  // ZeroMQ: ipc or tcp
  std::uint32_t workers = 2;     // threads, or processes that the program starts itself
  std::uint32_t repeat = 1;      // the kernel runs so often for a frame
  std::uint32_t strips = 1;      // parts of a frame
  std::uint32_t buffers = 0;     // frames that are read and not yet written; 0: W + 2
  std::uint32_t live = 0;        // the port of the live page; 0: none
  bool weighted = false;         // strips and frames by measured speed
};

extern const char* const kUsage;

// `implementations`: what --with may name in this program; the first is the default.
Outcome<Options> parse_options(int argc, char** argv,
                               const std::vector<std::string>& implementations);

// What each worker does with a frame.
struct Work {
  Kernel kernel;
  std::uint32_t repeat = 1;

  void run(Shape shape, const std::uint8_t* in, std::uint8_t* out) const;
  void run(Shape shape, Rows rows, const std::uint8_t* in, std::uint32_t in_first,
           std::uint8_t* out) const;
  // Calls `poll` eight times in each run of the kernel: a library without a thread of its own moves
  // its messages there.
  template <typename Poll>
  void run_polling(Shape shape, const std::uint8_t* in, std::uint8_t* out, Poll poll) const {
    constexpr std::uint32_t kParts = 8;
    for (std::uint32_t part = 0; part < repeat * kParts; ++part) {
      const Rows rows = strip(shape.height, kParts, part % kParts);
      convolve(kernel, shape, rows, in, 0, out + std::size_t{rows.first} * shape.width);
      poll();
    }
  }
};
Outcome<Work> choose_work(const Options& options);

}  // namespace video
