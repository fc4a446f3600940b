#pragma once

#include <string>

#include "base/result.h"
#include "stream/secret.h"

namespace terrane::tools {

// The job's secret of a file that its owner alone may read (terrane run --key, terrane gateway
// --key).
base::Result<stream::Secret> read_key(const std::string& path);
// The same; where there is no such file, it is made with a new secret.
base::Result<stream::Secret> read_or_make_key(const std::string& path);

}  // namespace terrane::tools
