#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stream/secret.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/watch/metrics_address.h"

namespace terrane::tools {

// How the host engines on other hosts are started. kForeign: by nodes that another launcher
// started.
enum class StartEngine { kLocal, kSsh, kMpirun, kPrterun, kSrun, kForeign };

// A gateway of a job (docs/clusters.md).
struct GatewayPlan {
  std::string name;             // unlike all others of the job
  std::uint32_t cluster = 0;    // of the map
  std::string host;             // where it is started, as an engine's host; empty: by hand
  std::string link_address;     // that gateways of other clusters dial; empty: all of its own
  std::uint16_t link_port = 0;  // 0: any
};

// A job as it was asked for, checked and ready to start.
struct JobPlan {
  static constexpr std::uint64_t kNoGrace = ~0ull;

  HostPlan program;           // what every host gets; `host` and `peers` are set for each
  std::int32_t own_host = 0;  // which host of the map is this one; -1: none
  StartEngine engine = StartEngine::kLocal;
  std::vector<std::uint32_t> slots;      // by host, as the engines want them
  std::string rsh;                       // the command that reaches a host, in words
  std::string ports;                     // "LOW-HIGH" that engines may listen on; empty: any
  std::string terrane;                   // the path of the command `terrane` on the other hosts
  std::optional<stream::Secret> secret;  // empty: one is drawn
  std::vector<GatewayPlan> gateways;     // none: all hosts reach each other
  bool encrypt = false;                  // also what passes between nodes and gateways
  std::uint64_t memory_bytes = 0;        // of a node (--memory); 0: not limited
  MetricsAddress metrics;                // where Prometheus gets the job's counters (--metrics)
  std::vector<std::string> terminal;  // where each node's debugger shows, in words; none: nowhere
  bool verbose = false;
  bool stats = false;            // gateways say at the end what they have carried
  bool survive = false;          // a node's death does not end the job
  std::uint64_t timeout_ms = 0;  // 0: none
  // From SIGTERM, SIGHUP or SIGQUIT to the end of what still runs. kNoGrace: the program
  // decides when it ends.
  std::uint64_t grace_ms = 5'000;
  std::uint64_t start_timeout_ms = 30'000;
  std::uint64_t patience_ms = 30'000;  // nodes that wait so long for others to join: said; 0: never
  std::span<char*> command_line;  // main's argv, so that helper processes can show another title
};

}  // namespace terrane::tools
