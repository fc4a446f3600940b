#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace terrane::sim {

// What happened in one history, line by line; kept only where somebody wants to read it.
class Trace {
 public:
  template <typename... Args>
  void add(std::uint64_t at, fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back(fmt::format("{:6} {}", at, fmt::format(format, std::forward<Args>(args)...)));
  }
  const std::vector<std::string>& lines() const { return lines_; }
  void clear() { lines_.clear(); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace terrane::sim
