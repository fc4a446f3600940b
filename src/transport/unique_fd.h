#pragma once

#include "base/unique_fd.h"

namespace terrane::transport {

using base::UniqueFd;

}  // namespace terrane::transport
