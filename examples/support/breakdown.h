#pragma once

#include <terrane/pages.h>

#include <cstdint>

namespace example {

// What a node spent between two readings of its counters.
terrane_counters spent_between(const terrane_counters& before, const terrane_counters& after);

// ViSMI's breakdown, a line a node: computation is what is left of elapsed time x threads.
void print_breakdown(const terrane_counters* nodes, int count, std::uint32_t threads);

}  // namespace example
