#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "tools/launch/host/host_messages.h"

namespace terrane::tools {

// What the launcher changes in itself and the programs that it starts get back as it was.
struct Inheritance {
  sigset_t signal_mask;
  struct sigaction on_broken_pipe;
  rlimit files;
  int nice;
};

// To be called in the child that becomes such a program.
void restore(const Inheritance& before);

// One node about to be started. Borrows everything.
struct NodeStart {
  NodeId node;
  const HostPlan* plan;
  const Inheritance* inheritance;
  int place;                        // the node's end of its place's socket
  int input;                        // becomes standard input
  int output = -1;                  // becomes standard output; -1: the launcher's own
  int error = -1;                   // the same for standard error
  int start_errors;                 // where a StartError goes when the program cannot be executed
  const cpu_set_t* cpus = nullptr;  // to run on; nullptr: any
  bool speaks_for_host = false;     // what concerns all nodes of the host is said by this one
};

struct StartError {
  std::uint32_t node;
  std::int32_t error;  // errno of execve
};

// Forks and executes one node: leader of its own process group, killed by the kernel when this
// process dies. Where the plan says so, it waits for a debugger before it executes the program.
base::Result<pid_t> spawn_node(const NodeStart& start);

// The environment of a node ("NAME=value"): the launcher's own, without another job's variables,
// with the plan's and this node's on top.
std::vector<std::string> node_environment(const NodeStart& start, char** own);

}  // namespace terrane::tools
