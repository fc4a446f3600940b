#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "tools/doctor/finding.h"

namespace terrane::tools {

// The memory that a job on these hosts could hold: of each host, and together. `hosts` is as -H of
// terrane run, which asks them. `self`: the path of this command.
base::Result<Finding> rooms_of(const std::string& hosts, const std::string& self);

// The same from lines of a host and its bytes; a host that is there twice counts once.
Finding sum_of_rooms(const std::string& lines);

// Bytes as a person reads them.
std::string size_text(std::uint64_t bytes);

}  // namespace terrane::tools
