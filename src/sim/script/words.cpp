#include "sim/script/words.h"

#include <cctype>

namespace terrane::sim {
namespace {

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

Words::Words(std::string_view line) {
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ' || line[i] == '\t') {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < line.size() && is_of_word(line[end])) ++end;
    if (end == i) end = line.substr(i, 2) == "->" || line.substr(i, 2) == ".." ? i + 2 : i + 1;
    words_.emplace_back(line.substr(i, end - i));
    i = end;
  }
}

std::uint64_t Words::number(std::string_view what, std::uint64_t least, std::uint64_t most) {
  std::optional<std::uint64_t> value = at_end() ? std::nullopt : number_in(words_[at_]);
  if (!value) expected(what);
  if (*value < least || *value > most) expected(fmt::format("{} from {} to {}", what, least, most));
  ++at_;
  return *value;
}

std::string Words::word(std::string_view what) {
  if (at_end() || !is_of_word(words_[at_][0])) expected(what);
  return words_[at_++];
}

void Words::expected(std::string_view what) const {
  if (at_end()) bad_line("expected {}, found the end of the line", what);
  bad_line("expected {}, found '{}'", what, words_[at_]);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

}  // namespace terrane::sim
