#pragma once

#include <string>

#include "tools/report/page_totals.h"

namespace terrane::tools::report {

// "transfer", "wait", "collective": the first of runtime::trace::TimeKind.
inline constexpr std::size_t kKindsOfShmem = 3;

// The tables of a program with OpenSHMEM: what its calls have cost, and where it waited. Empty of
// other programs.
std::string call_tables(const PageTotals& totals);
// At most three sentences about what was slow, each ended by a blank.
std::string slow_calls(const JobLog& job, const PageTotals& totals);

}  // namespace terrane::tools::report
