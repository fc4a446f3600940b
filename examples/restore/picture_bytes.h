#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "outcome.h"

namespace restore {

using Bytes = std::vector<std::uint8_t>;

// Decode a whole file's bytes; `path` only names it in sentences.
Outcome<Image> decode_png(const std::string& path, const Bytes& bytes);
Outcome<Image> decode_pnm(const std::string& path, const Bytes& bytes);

// What every format is held to before memory for its pixels is taken.
Outcome<> check_picture_size(const std::string& path, std::uint64_t width, std::uint64_t height);
Failure sixteen_bit_failure(const std::string& path);

}  // namespace restore
