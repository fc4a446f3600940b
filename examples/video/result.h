#pragma once

#include <string>

#include "sink.h"
#include "source.h"

namespace video {

// One line for the user: what was done, and the checksum of the result.
void print_result(const char* implementation, const Source& source, std::uint64_t frames,
                  std::uint64_t sum, double seconds);
// The same where the source is in another process.
void print_result(const char* implementation, Shape shape, std::uint64_t frames, std::uint64_t sum,
                  double seconds);

}  // namespace video
