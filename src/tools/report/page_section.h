#pragma once

#include <string>

#include "tools/report/page_totals.h"

namespace terrane::tools::report {

inline constexpr std::size_t kStripPoints = 300;  // steps of a strip

// The parts of the page about shared pages: what threads did over time, OpenMP regions, pages that
// nodes share, locks, memory, homes, bytes between nodes.
std::string page_section(const JobLog& job, const PageTotals& totals);
// At most three sentences about what was slow, each ended by a blank.
std::string slow_sentences(const JobLog& job, const PageTotals& totals);

}  // namespace terrane::tools::report
