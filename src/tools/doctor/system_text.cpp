#include "tools/doctor/system_text.h"

#include <charconv>
#include <fstream>
#include <sstream>

namespace terrane::tools {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::optional<std::string> line = first_line(path);
  std::uint64_t number = 0;
  if (!line) return std::nullopt;
  auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

std::optional<std::string> labelled(const std::string& path, std::string_view label) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(label)) continue;
    std::istringstream rest(line.substr(label.size()));
    std::string word;
    if (rest >> word) return word;
  }
  return std::nullopt;
}

std::string chosen_word(std::string_view text) {
  std::size_t open = text.find('[');
  std::size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return "";
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace terrane::tools
