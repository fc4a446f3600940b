#pragma once

#include "base/result.h"

namespace terrane::transport::ucx {

// Whether UCX finds a port to listen on: of the range UCX_TCP_PORT_RANGE ("LOW-HIGH"), if it is
// set. UCX itself looks again and again for ever where the range is taken.
base::Result<> check_free_port();

}  // namespace terrane::transport::ucx
