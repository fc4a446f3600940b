#pragma once

#include <algorithm>
#include <vector>

#include "wire/notice_set.h"

namespace terrane::protocol {

// Sorts the runs, and joins those that touch or overlap.
inline void join(std::vector<wire::BlockRange>& runs) {
  if (runs.size() < 2) return;
  std::sort(runs.begin(), runs.end(),
            [](const wire::BlockRange& a, const wire::BlockRange& b) { return a.first < b.first; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first <= runs[last].end()) {
      runs[last].count = std::max(runs[i].end(), runs[last].end()) - runs[last].first;
    } else {
      runs[++last] = runs[i];
    }
  }
  runs.resize(last + 1);
}

}  // namespace terrane::protocol
