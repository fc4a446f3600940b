#pragma once

#include <memory>

#include "transport/transport.h"

namespace terrane::transport::shm {

std::unique_ptr<TransportFactory> make_shm_factory();

}  // namespace terrane::transport::shm
