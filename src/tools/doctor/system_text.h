#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace terrane::tools {

// The first line of a file below /proc or /sys; nullopt where there is none.
std::optional<std::string> first_line(const std::string& path);
// The number that it begins with.
std::optional<std::uint64_t> number_in(const std::string& path);
// The word after `label` in the file's lines of the form "label   word".
std::optional<std::string> labelled(const std::string& path, std::string_view label);
// The word in brackets of "always [madvise] never".
std::string chosen_word(std::string_view text);

}  // namespace terrane::tools
