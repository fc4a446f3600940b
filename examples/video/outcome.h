#pragma once

#include "support/outcome.h"

namespace video {

using example::Failure;
using example::Outcome;
using example::success;

}  // namespace video
