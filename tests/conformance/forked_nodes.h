#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "transport/transport.h"

namespace terrane::conformance {

// Memory that the processes of a test share beside the transport under test, to keep step with each
// other.
struct Board {
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> rounds;
  std::atomic<std::uint32_t> leaving;
  std::atomic<std::uint32_t> left;
  std::atomic<std::uint64_t> words[64];
  char text[4096];
};

// What a test's body works with, in the process of one node.
struct Node {
  NodeId self;
  std::uint32_t nodes;
  transport::Transport& transport;
  Board& board;
  std::vector<std::byte*> regions;     // our own exported memory
  std::vector<transport::Card> cards;  // everyone's, without their descriptors

  // Waits for all nodes without touching the transport.
  void barrier();
};

struct JobOptions {
  // A name of the registry. The nodes count as on one host, except for "mixed": as on two, each
  // with half of the nodes; "mixed_near" is mixed on one host. "mixed_routed": as "mixed", each
  // host a cluster, with gateways between; "routed_tls" is routed, encrypted.
  std::string transport;
  std::uint32_t nodes = 2;
  std::vector<std::uint64_t> region_bytes = {};
  bool one_sided = false;           // the regions are exported with the place where they are mapped
  std::vector<NodeId> doomed = {};  // nodes that kill themselves, which is then no failure
  unsigned timeout_s = 60;
  std::uint64_t extra_latency_ns = 0;
};

// Forks a process for each node, lets them exchange their cards as the bootstrap does (over
// sockets, with descriptors), runs the body in each, and returns what went wrong: nothing when the
// text is empty. A node that fails or hangs takes the others down with it. `after` runs in this
// process with the board that the nodes have left.
std::string run_job(const JobOptions& options, const std::function<void(Node&)>& body,
                    const std::function<void(Board&)>& after = {});

// Ends this node with a message unless the claim holds. For bodies, which have no GoogleTest.
void require(bool claim, const std::string& what,
             std::source_location where = std::source_location::current());

// How many descriptors this process has.
std::size_t open_descriptors();

}  // namespace terrane::conformance
