#pragma once

#include <sched.h>

#include <string_view>
#include <vector>

namespace terrane::tools {

// The cores that this process may use, each as the set of its usable processors (hardware threads);
// at least one.
std::vector<cpu_set_t> usable_cores();

// Reads a list as the kernel writes it ("0-3,8"); empty when it is not one.
std::vector<int> parse_cpu_list(std::string_view text);

}  // namespace terrane::tools
