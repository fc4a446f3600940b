#pragma once

#include <memory>

#include "transport/part.h"
#include "transport/transport.h"

namespace terrane::transport::routed {

// Which peers are reached by gateways.
enum class Peers {
  kAll,
  kOfOtherClusters,
};

std::unique_ptr<PartFactory> make_routed_factory(const TransportOptions& options, Peers peers);

}  // namespace terrane::transport::routed
