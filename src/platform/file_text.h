#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrane::platform {

// What a file says, such as one of /proc; empty: it cannot be read. Not by a stream, which has the
// locale of the program: that has objects in shared memory, where no thread of ours may look.
std::string file_text(const std::string& path);

// The number that a file begins with; nullopt: it cannot be read, or says something else.
std::optional<std::uint64_t> number_in_file(const std::string& path);

// The parts of a text between blanks and ends of lines, and its lines; they point into it.
std::vector<std::string_view> words_of(std::string_view text);
std::vector<std::string_view> lines_of(std::string_view text);

// A decimal number, and nothing else before a blank; nullopt: it is none.
std::optional<std::uint64_t> number_of(std::string_view word);

}  // namespace terrane::platform
