#pragma once

#include <charconv>
#include <string_view>

namespace example {

// The whole text as a number of [least, most]; false, and `out` as it was, for anything else.
template <typename Number>
bool parse_number(std::string_view text, Number least, Number most, Number& out) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number value{};
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stopped != text.data() + text.size()) return false;
  if (!(value >= least && value <= most)) return false;
  out = value;
  return true;
}

}  // namespace example
