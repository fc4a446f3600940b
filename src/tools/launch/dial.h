#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stream/secret.h"

namespace terrane::tools {

// Connects to the hub: tries all its addresses at once and keeps the first connection whose other
// end proves the secret (an address of the hub's host may mean another machine here). Blocks for
// `timeout_ms` at most, and no longer than somebody reads this process's standard error. The socket
// is non-blocking.
base::Result<base::UniqueFd> dial_hub(const std::vector<std::string>& addresses, std::uint16_t port,
                                      const stream::Secret& secret, std::uint64_t timeout_ms,
                                      int lifeline = -1);

// The same over a socket that is connected already, with gateways between.
base::Result<base::UniqueFd> prove_to_hub(base::UniqueFd socket, const stream::Secret& secret,
                                          std::uint64_t timeout_ms, int lifeline = -1);

// ssh and its like end with `terrane run`, and their pipes with them.
bool starter_has_gone();

}  // namespace terrane::tools
