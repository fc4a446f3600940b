#pragma once

#include <string>

#include "tools/report/totals.h"

namespace terrane::tools::report {

// One page that needs nothing else: what the nodes did with shared pages and with chunks, what they
// waited for, and how that went over time.
std::string as_html(const JobLog& job, const Totals& totals);

}  // namespace terrane::tools::report
