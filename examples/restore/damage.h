#pragma once

#include <cstdint>

#include "image.h"

namespace restore {

enum class Damage : std::uint8_t { kNone = 0, kErased = 1, kScratch = 2, kBlot = 3, kInk = 4 };

// Scratches, blots and lines of handwriting over a width x height picture; the same for the same
// seed everywhere (only +, -, *, / and sqrt, which IEEE 754 rounds equally on all machines).
Mask make_damage(std::uint32_t width, std::uint32_t height, std::uint64_t seed);

// Damage where the mask picture is lighter than middle grey. The sizes of both pictures are the
// same.
Mask mask_from_picture(const Image& picture);

std::size_t count_damaged(const Mask& mask);

// The picture as it is found: every damaged pixel in the colour of its damage, its own value lost.
void paint_damage(const Mask& mask, Image& image);

}  // namespace restore
