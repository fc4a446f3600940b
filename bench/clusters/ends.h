#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace terrane::bench {

// The two ends of a chain of relays or gateways: 64 B ask for 4,160 B, as a far read of a page
// does.
struct EndOptions {
  std::uint16_t port = 0;      // of the server
  std::string to;              // HOST:PORT that leads to the server, of the client
  std::uint64_t delay_ns = 0;  // each waits so long before it sends: a link without relays
  std::uint32_t rounds = 1000, page_rounds = 50;
  std::uint64_t bulk_bytes = 0;  // in each direction
};

// Serves one client.
void run_server(const EndOptions& options);
// Prints "read_us=", "pages_us=" (64 reads at once), both medians, "there_gbs=" and "back_gbs=".
void run_client(const EndOptions& options);

}  // namespace terrane::bench
