#pragma once

#include <string>

#include "frame.h"
#include "shared/progress.h"

namespace video {

// What the page shows, as JSON.
std::string state_json(const Progress& progress, Shape shape);

}  // namespace video
