#pragma once

#include <cstdint>
#include <memory>

#include "transport/part.h"

namespace terrane::transport::ucx {

enum class Peers : std::uint8_t { kAll, kOnOtherHosts, kOnOtherHostsOfTheCluster };

// A transport to those peers; the others must be served by another.
std::unique_ptr<PartFactory> make_ucx_factory(const TransportOptions& options, Peers peers);

}  // namespace terrane::transport::ucx
