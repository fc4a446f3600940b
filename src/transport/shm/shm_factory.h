#pragma once

#include <cstdint>
#include <memory>

#include "transport/part.h"

namespace terrane::transport::shm {

// How a node's sleeping threads are woken: the first is quicker, the second lets them sleep for
// another transport at the same time.
enum class Wake : std::uint8_t { kByFutex, kByDescriptor };

std::unique_ptr<PartFactory> make_shm_factory(Wake wake);

}  // namespace terrane::transport::shm
