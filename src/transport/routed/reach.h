#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "stream/dial.h"
#include "transport/routed/end.h"
#include "transport/routed/hello.h"

namespace terrane::transport::routed {

// Connects an end to the gateways of its cluster. All of them are dialled; of several, one that
// does not answer is left out once another one does. Blocks. Returns the names of those that
// answer; the error is a sentence.
base::Result<std::vector<std::string>> reach_gateways(End& end,
                                                      const std::vector<stream::Door>& gateways,
                                                      const stream::Credentials& credentials,
                                                      const Hello& ours,
                                                      const stream::DialLimits& limits);

}  // namespace terrane::transport::routed
