#pragma once

#include <string_view>

namespace terrane::base {

// Whether processors of these two architectures, as `uname -m` names them, may work on one memory
// and send each other structures as they are: byte order, sizes, alignment and atomics are the
// same. True for what has been shown to work (scripts/check_arm64.sh), no more.
constexpr bool go_together(std::string_view one, std::string_view other) {
  auto shown = [](std::string_view name) { return name == "x86_64" || name == "aarch64"; };
  return one == other || (shown(one) && shown(other));
}

}  // namespace terrane::base
