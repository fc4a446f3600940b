#pragma once

#include "support/outcome.h"

namespace restore {

using example::Failure;
using example::Outcome;
using example::success;

}  // namespace restore
