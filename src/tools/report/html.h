#pragma once

#include <string>

#include "tools/report/totals.h"

namespace terrane::tools::report {

// One page that needs nothing else: what the nodes did, the waits for each chunk, and the states
// of copies over time.
std::string as_html(const JobLog& job, const Totals& totals);

}  // namespace terrane::tools::report
