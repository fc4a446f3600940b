#pragma once

#include "base/prng.h"
#include "fuzz/fuzz_target.h"

namespace terrane::fuzz {

// An input made from the seeds: one of them, or two joined, with a few random changes (bits, bytes,
// numbers at their limits, parts cut out, doubled, moved or inserted).
Input mutated(const std::vector<Input>& seeds, base::Prng& prng);

}  // namespace terrane::fuzz
