#pragma once

#include <chrono>

#include "base/result.h"

namespace terrane::transport::ucx {

// How long the kernel keeps a connection that has ended, and a little more.
inline constexpr std::chrono::milliseconds kLeftPortLives{62'000};

// Whether UCX finds a port to listen on: of the range UCX_TCP_PORT_RANGE ("LOW-HIGH"), if it is
// set. UCX itself looks again and again for ever where the range is taken. Waits so long for a port
// that nobody has, but connections that have ended.
base::Result<> await_free_port(std::chrono::milliseconds limit);

}  // namespace terrane::transport::ucx
