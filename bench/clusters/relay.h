#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stream/tls_session.h"

namespace terrane::bench {

struct RelayOptions {
  std::uint16_t port = 0;
  std::string to;                     // HOST:PORT of what the streams lead to
  bool link_is_behind = true;         // the link is on the side of `to`, or of the accepted sockets
  std::optional<stream::TlsKey> key;  // of TLS on the link
  std::uint64_t delay_ns = 0;         // of what is sent over the link
  std::uint32_t streams = 1;          // ends after so many have ended
};

// Carries the bytes of each connection to another place and back, and nothing else: below it is
// no gateway.
void run_relay(const RelayOptions& options);

}  // namespace terrane::bench
