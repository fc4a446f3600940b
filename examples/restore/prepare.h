#pragma once

#include "image.h"
#include "options.h"
#include "outcome.h"

namespace restore {

// What node 0 knows before the nodes start to work.
struct Prepared {
  Image original;
  Image damaged;
  Mask mask;
};

// Reads the photograph and the mask, or makes the damage, and writes damaged.png: all that can be
// wrong with the files is found here, before any other node waits for work.
Outcome<Prepared> prepare(const Options& options);

}  // namespace restore
