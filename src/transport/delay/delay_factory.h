#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.h"

namespace terrane::transport::delay {

// For tests on one machine: any transport, with messages that take `latency_ns` longer, in order.
// Delayed are those between clusters; where there is one cluster, those between hosts; or all
// between two nodes where there is one host; memory that is
// reached is as near as ever. Times are compared across processes, so all nodes must run on one
// machine, or under one clock. A wait ends by sleep() or polling as without it.
std::unique_ptr<TransportFactory> make_delayed_factory(std::unique_ptr<TransportFactory> inner,
                                                       std::uint64_t latency_ns);

}  // namespace terrane::transport::delay
