#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/script/settings.h"

namespace terrane::sim {

// What is wrong with a line of a script. Thrown where it is found, caught by parse_script.
struct BadLine {
  std::string text;
};

template <typename... Args>
[[noreturn]] void bad_line(fmt::format_string<Args...> format, Args&&... args) {
  throw BadLine{fmt::format(format, std::forward<Args>(args)...)};
}

// The words, numbers and signs of one line, taken one after the other.
class Words {
 public:
  explicit Words(std::string_view line);

  bool at_end() const { return at_ == words_.size(); }
  bool accept(std::string_view word) {
    if (at_end() || words_[at_] != word) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view word) {
    if (!accept(word)) expected(fmt::format("'{}'", word));
  }
  // `what`: what is expected, for the error.
  std::uint64_t number(std::string_view what, std::uint64_t least = 0, std::uint64_t most = ~0ull);
  std::string word(std::string_view what);
  void expect_end() {
    if (!at_end()) expected("the end of the line");
  }
  // Refuses the line: `what` was expected in place of the next word.
  [[noreturn]] void expected(std::string_view what) const;

 private:
  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

std::string_view trimmed(std::string_view text);

}  // namespace terrane::sim
