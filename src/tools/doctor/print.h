#pragma once

#include <string>

#include "tools/doctor/finding.h"

namespace terrane::tools {

// A line a finding: "ok", "note" or "PROBLEM", the topic, what was seen, and below it the remedy.
std::string as_text(const std::string& host, const Findings& findings);
// One object: host, healthy, findings (level, topic, text, remedy).
std::string as_json(const std::string& host, const Findings& findings);

}  // namespace terrane::tools
