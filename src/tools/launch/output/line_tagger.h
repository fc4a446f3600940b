#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace terrane::tools {

// Cuts a stream into lines with a tag in front, so that they can be written whole. A line of more
// than kMaxLine bytes is cut into lines of that length.
class LineTagger {
 public:
  static constexpr std::size_t kMaxLine = 1u << 20;

  explicit LineTagger(std::string tag) : tag_(std::move(tag)) {}

  // Appends what is complete to `out`; keeps the rest.
  void add(std::string_view text, std::string& out);
  // The stream has ended: the rest becomes a line.
  void finish(std::string& out);

 private:
  void put_line(std::string_view line, std::string& out);

  std::string tag_;
  std::string rest_;
};

}  // namespace terrane::tools
