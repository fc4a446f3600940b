#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace terrane::tools::report {

// Text for a page: without what HTML would read as its own.
std::string escaped(std::string_view text);
// A time and a size with their units, for people.
std::string time_text(std::uint64_t ns);
std::string bytes_text(std::uint64_t bytes);

// "12 %" of a whole.
std::string share_text(double part, double whole);

}  // namespace terrane::tools::report
