#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/commands.h"
#include "tools/launch/host_list.h"
#include "tools/launch/plan.h"

namespace terrane::tools {

// The command line of `terrane run` as it was written.
struct RunOptions {
  std::string nodes;  // empty: one, or all slots of the hosts
  std::vector<std::string> variables;
  std::string folder, timeout, bind_to, heartbeat = "1", death_after, on_death, patience, predict;
  std::string hosts, host_file, map_by = "slot", engine = "auto", rsh, prefix, start_timeout = "30",
                                grace;
  std::string clusters;  // "a:h0,h1/b:h2"; empty: as the topology says
  std::string gateways;  // "a:g0/b:g1"; empty: as the topology says
  std::string key;       // the file of the job's secret
  bool encrypt = false;
  std::string topology;  // the name of a file that replaces options which are not given
  std::vector<HostSlots> topology_hosts;
  std::string fault_source, consistency, memory, transport, net, ports, servers, check, debug,
      guests, name;
  std::string check_output;  // the file for what --check=races or sharing finds
  bool check_fails = false;
  std::string report, report_every;
  std::string metrics;              // where Prometheus gets the counters: "PORT" or "ADDRESS:PORT"
  std::string placement = "block";  // of terrane threads
  std::string lend;                 // of terrane threads and omp: hosts that give memory alone
  std::string threads;              // of terrane omp, on each node
  bool allow_inline_atomics = false;
  std::string atomics;  // what happens to locked instructions: patch, trap, refuse; empty: patch
  bool stats = false;
  bool tag_output = false;
  bool randomize = false;
  Preload preload = Preload::kAutomatic;
  bool verbose = false;
};

// A plan with what went into it, and notices for the user.
struct PlannedRun {
  JobPlan plan;
  std::vector<std::string> notices;  // lines for the user
};

// Whether the nodes replace locked instructions, so that they may be in the program.
bool serves_locked_code(const RunOptions& options);

// Checks the options and makes the plan of them. Changes into --wdir. The error is of the command
// line; a program that is not found is not among them.
base::Result<PlannedRun> plan_run(RunOptions options, const CommandContext& context);

}  // namespace terrane::tools
