#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stream/secret.h"
#include "tools/launch/guests/doorkeeper.h"
#include "tools/launch/hub/engine_bridge.h"
#include "tools/launch/hub/job_engine.h"

namespace terrane::tools {

// The program of somebody who joins a running job.
struct GuestProgram {
  std::string path;
  std::vector<std::string> argv;
};

// How the engine of another host is started (`terrane host-engine`, which agents run).
struct HostEngineOptions {
  std::vector<std::string> hub_addresses;
  std::uint16_t port = 0;
  std::int32_t host = -1;  // its index in the job's map; -1: it does not know
  std::uint64_t heartbeat_ms = 0;
  std::uint64_t dial_timeout_ms = 30'000;
  std::string ports;  // "LOW-HIGH" that it may listen on; empty: any
  EngineRoute route;  // through gateways, or none
  int lifeline =
      -1;  // its end means that the process that started us has gone; until the hub is reached
  std::span<char*> command_line;  // main's argv
};

// Runs one host's part of a job whose hub is on another host, and returns this process's exit code:
// 0 when the hub let it go, whatever became of the job. Whatever happens to the hub, to the
// connection or to this process, no process of the job stays here.
int run_host_engine(const HostEngineOptions& options, const stream::Secret& secret);

// The same for a guest: one node that joins a running job, with this process's input and output.
// The exit code is that of its program. It may go on after it has left the job.
int run_guest_engine(const HostEngineOptions& options, const stream::Secret& secret,
                     const GuestProgram& program);

// The same for nodes that another launcher starts.
int run_adopting_host_engine(const HostEngineOptions& options, const stream::Secret& secret,
                             DoorPlan door, const AdoptionAnswer& answer);

}  // namespace terrane::tools
