#pragma once

#include "support/outcome.h"

namespace lu {

using example::Failure;
using example::Outcome;
using example::success;

}  // namespace lu
