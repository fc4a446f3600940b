#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stream/dial.h"
#include "transport/routed/end.h"
#include "transport/routed/hello.h"

namespace terrane::transport::routed {

// Connects an end to the gateways of its cluster. It dials all of them. If one gateway does not
// answer and another one does, the end goes on without the first. Blocks. Returns the names of the
// gateways that answer. The error is a sentence.
base::Result<std::vector<std::string>> reach_gateways(End& end,
                                                      const std::vector<stream::Door>& gateways,
                                                      const stream::Credentials& credentials,
                                                      const Hello& ours,
                                                      const stream::DialLimits& limits);

}  // namespace terrane::transport::routed
