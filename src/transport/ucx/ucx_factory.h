#pragma once

#include <memory>

#include "transport/transport.h"

namespace terrane::transport::ucx {

std::unique_ptr<TransportFactory> make_ucx_factory(const TransportOptions& options);

}  // namespace terrane::transport::ucx
