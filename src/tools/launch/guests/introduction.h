#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "bootstrap/job_map.h"

namespace terrane::tools {

// What a host's engine, or a gateway, says of itself, first of all, once both sides have proved the
// secret.
struct Introduction {
  std::string version;     // of Terrane
  std::string machine;     // the processor's architecture, as uname -m says
  std::string host_name;   // its own
  std::string path;        // of its command `terrane`
  std::int32_t host = -1;  // the index that it was started for; -1: it does not know
  std::int32_t rank = -1;  // among the engines that one launcher started; -1: it does not know
  std::uint16_t port = 0;  // UDP: where it hears heartbeats
  bool joins = false;      // the running job: a guest

  // Of a gateway: its name, and where it listens for its own cluster and for other gateways.
  std::string gateway;
  bootstrap::GatewayDoor inner, link;
  bool carries_frames =
      false;  // what follows on this connection are frames of the gateways' network

  auto fields() {
    return std::tie(version, machine, host_name, path, host, rank, port, joins, gateway, inner,
                    link, carries_frames);
  }
  bool operator==(const Introduction&) const = default;
};

// Of this process; `host`, `rank` and `port` are left to the caller.
Introduction introduce_ourselves();

// An error in one sentence about the host, with what mends it, where the two cannot run one job.
base::Result<> compare_introductions(const Introduction& mine, const Introduction& theirs,
                                     const std::string& host);

// Which of the hosts that are still expected (`names`, by index; `taken` already there) is the one
// that introduces itself; -1: none of them. By its index, else by its name (up to the first dot),
// else by its rank, else the first that is left.
std::int32_t match_host(const Introduction& guest, const std::vector<std::string>& names,
                        const std::vector<bool>& taken);

}  // namespace terrane::tools
