#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/options.h"

namespace terrane::runtime::chunks {

// What the environment variables of a node of chunks set; `terrane run` sets them from its options.
struct Settings {
  std::string servers;                 // TERRANE_SERVERS: a number, or nodes; see Topology
  std::string report;                  // TERRANE_REPORT: the folder for event logs; "": none
  std::uint32_t report_every = 32;     // TERRANE_REPORT_EVERY: see ChunkTrace
  bool survives = false;               // TERRANE_ON_DEATH=survive: the job goes on when a node dies
  std::uint64_t patience_ms = 10'000;  // TERRANE_PATIENCE: see EngineConfig; 0: none
  // Each is half of TERRANE_MEMORY, or of this node's share of half the machine's memory.
  std::uint64_t budget_bytes = 0;  // for copies whose home is another node
  std::uint64_t home_bytes = 0;    // for chunks whose home is this node
  std::uint64_t region_bytes = 0;  // address space for both
};

base::Result<Settings> read_settings(const Options& options, std::uint32_t nodes_on_host);

// name: the variable or option that had the text, for the error message.
base::Result<std::uint32_t> parse_report_every(std::string_view name, std::string_view text);

}  // namespace terrane::runtime::chunks
