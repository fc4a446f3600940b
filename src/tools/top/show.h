#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/top/rates.h"

namespace terrane::tools::top {

// The rates as lines of text, for people: at most `height` lines of at most `width` letters. 0: as
// many as there are.
std::vector<std::string> as_lines(const JobRates& job, std::size_t width, std::size_t height);

// The same for programs: one line of JSON, without its end.
std::string as_json(const JobRates& job);

// "950", "12.3k", "4.5M": at most five letters.
std::string short_number(double number);

}  // namespace terrane::tools::top
