#pragma once

#include <cstdio>
#include <string>

namespace video {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsageError = 2;

// One sentence on standard error; returns `status`.
inline int complain(const std::string& sentence, int status = kFailed) {
  std::fprintf(stderr, "video: %s\n", sentence.c_str());
  std::fflush(stderr);
  return status;
}

}  // namespace video
