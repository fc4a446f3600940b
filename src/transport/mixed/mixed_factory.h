#pragma once

#include <memory>

#include "transport/transport.h"

namespace terrane::transport::mixed {

std::unique_ptr<TransportFactory> make_mixed_factory(const TransportOptions& options);

}  // namespace terrane::transport::mixed
