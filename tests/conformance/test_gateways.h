#pragma once

#include <sys/types.h>

#include <cstdint>

#include "transport/transport.h"

namespace terrane::conformance {

// Two gateways that are linked with each other, in a process of their own: what nodes of two
// clusters reach each other by. The process ends with this.
class TestGateways {
 public:
  // `encrypt`: also between nodes and gateways.
  explicit TestGateways(bool encrypt);
  ~TestGateways();
  TestGateways(const TestGateways&) = delete;

  // Even nodes are in the first cluster, odd ones in the second.
  transport::Routes routes_of(NodeId node) const;
  void kill();

 private:
  bool encrypt_;
  stream::Secret secret_;
  std::uint16_t ports_[2] = {};
  pid_t process_ = -1;
};

}  // namespace terrane::conformance
