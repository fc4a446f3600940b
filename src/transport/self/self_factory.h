#pragma once

#include <memory>

#include "transport/transport.h"

namespace terrane::transport::self {

std::unique_ptr<TransportFactory> make_self_factory();

}  // namespace terrane::transport::self
