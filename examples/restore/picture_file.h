#pragma once

#include <string>

#include "image.h"
#include "outcome.h"

namespace restore {

// Reads an 8-bit PNG (transparent parts on white), or a binary PGM or PPM. A file that is missing,
// truncated, not one of these, 16 bits deep, empty or larger than kMaxPixels is a Failure that
// names it.
Outcome<Image> read_picture(const std::string& path);

Outcome<> write_png(const std::string& path, const Image& image);

}  // namespace restore
