#pragma once

#include <string>
#include <vector>

namespace terrane::tools {

enum class Level { kOk, kNote, kProblem };

// One thing that was looked at: what it is, what was seen, and, where it could be better, the
// command or the setting that mends it.
struct Finding {
  Level level = Level::kOk;
  std::string topic;
  std::string text;
  std::string remedy = {};
};

using Findings = std::vector<Finding>;

}  // namespace terrane::tools
