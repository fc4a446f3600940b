#pragma once

#include <optional>

#include "stream/secret.h"

namespace terrane::tools {

// The job's secret, as `terrane run` gives it to what it starts on other hosts: from the
// environment, which nodes shall not inherit, or the first line of the standard input, which then
// stays open as long as the process that started us, and is the lifeline.
std::optional<stream::Secret> take_secret(int& lifeline);

}  // namespace terrane::tools
