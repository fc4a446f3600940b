#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace terrane::tools {

// Of `known` the name that `given` was probably meant to be: it begins with `given`, or differs
// from it by one or two letters (left out, added, changed or swapped). Empty: there is none.
std::string nearest(std::string_view given, const std::vector<std::string>& known);

// "; did you mean NAME?", or an empty text.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& known);

}  // namespace terrane::tools
