#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/job_map.h"
#include "stream/secret.h"
#include "tools/launch/host/host_messages.h"

namespace terrane::tools {

// How a gateway is started (`terrane gateway`).
struct GatewayOptions {
  std::string name;  // as in the job's list of gateways
  // Where the hub listens; empty: it is reached through other gateways.
  std::vector<bootstrap::GatewayDoor> hub;
  // Where gateways of other clusters listen that this one dials.
  std::vector<bootstrap::GatewayDoor> via;
  std::uint64_t window =
      0;  // bytes of a pair of nodes that may be on their way; 0: as the others say
  std::uint64_t heartbeat_ms = 1000;  // a link that is silent for so long is lost; 0: none is
  std::uint64_t death_after_ms = kDeathAfterMs;  // of the hub's process while its kernel answers
  std::uint64_t dial_timeout_ms = 30'000;
  std::uint16_t link_port = 0;  // where it listens for other gateways; 0: any
  bool encrypt = false;         // also what passes inside of its cluster
  int lifeline =
      -1;  // its end means that the process that started us has gone; until the hub is reached
};

// Carries what the nodes and engines of its cluster and those of others say to each other, until
// the hub lets it go. Returns the process's exit code.
int run_gateway(const GatewayOptions& options, const stream::Secret& secret);

}  // namespace terrane::tools
