#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "platform/fault_source.h"
#include "protocol/predict/heuristics.h"
#include "waiting/mode.h"

namespace terrane::runtime {

// What the environment variables of a node set; `terrane run` sets them from its options.
struct Options {
  std::uint64_t unit_bytes = 4096;  // TERRANE_UNIT: the coherence unit, 4 to 64 KiB, a power of two
  std::uint64_t space_bytes = 0;    // TERRANE_SPACE: the shared address space
  std::uint64_t memory_bytes = ~0ull;  // TERRANE_MEMORY: most of shared pages, copies and twins
  std::uint64_t log_ranges = 1 << 16;  // TERRANE_LOG_RANGES: write notices that are kept
  platform::FaultSourceKind fault_source =
      platform::FaultSourceKind::kAutomatic;  // TERRANE_FAULT_SOURCE
  bool sequential = false;         // TERRANE_CONSISTENCY=sequential: as HlrcConfig::sequential
  bool check_races = false;        // TERRANE_CHECK=races: as HlrcConfig::check_races
  bool check_accesses = false;     // TERRANE_CHECK=races=reads: and HlrcConfig::check_accesses
  bool check_sharing = false;      // TERRANE_CHECK=sharing: a report of pages that come again
  std::string check_output;        // TERRANE_CHECK_OUTPUT: the file for what was found, as JSON
  std::string record;              // TERRANE_RECORD: the folder for recordings; empty: none
  bool record_pages = true;        // TERRANE_RECORD_PAGES=0: they say nothing of pages
  std::string report;              // TERRANE_REPORT: the folder for event logs; empty: none
  bool check_fails = false;        // TERRANE_CHECK_FAILS=1: what is found makes the exit code
  std::string transport = "auto";  // TERRANE_TRANSPORT
  std::string net = "auto";  // TERRANE_NET: interfaces for messages to other hosts, "eth0,eth1"
  waiting::Mode wait = waiting::Mode::kAdaptive;  // TERRANE_WAIT: auto, spin, sleep
  std::uint64_t extra_latency_us = 0;  // TERRANE_TEST_LATENCY_US: for tests; added to such messages
  bool verbose = false;                // TERRANE_VERBOSE=1: node 0 names its transports
  bool stats = false;                  // TERRANE_STATS=1: the node prints a report when it leaves
  std::uint64_t patience_ms = 30'000;  // TERRANE_PATIENCE, in seconds: see Patience; 0: no reports
  bool meet = true;                    // TERRANE_MEET=0: barriers always use messages
  protocol::Prediction prediction;     // TERRANE_PREDICT: which predictor, without which heuristics
  bool migrate = true;                 // TERRANE_MIGRATE=0: a home stays at the first writer
  bool clusters = true;  // TERRANE_CLUSTERS=0: the protocol takes all nodes for one cluster
  // Whether the changes of homes are found as those of copies are.
  bool follows_homes() const { return check_races || (!record.empty() && record_pages); }
  bool one_sided = true;  // TERRANE_ONE_SIDED=0: messages also where memory can be reached
};

// Reads them. `nodes` bounds the default space, because each node maps the space of each peer. A
// bad value gives an error that names the variable and the values that it accepts.
base::Result<Options> read_options(std::uint32_t nodes);

// "64M", "2G", "512K", "4096": bytes.
base::Result<std::uint64_t> parse_size(std::string_view text);

}  // namespace terrane::runtime
