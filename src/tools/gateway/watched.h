#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/unique_fd.h"

namespace terrane::tools {

// Runs `work` in a child process and gives its exit code. The work writes a byte to `signs` now and
// then; from its first one on, the child is killed when it gives none for `limit_ms`. So what it is
// connected to hears at once that a stopped gateway carries nothing. When the work is done, a
// parent that was stopped goes on. `limit_ms` 0: no limit, and no child. `subject`: of the sentence
// on standard error.
int run_watched(std::uint64_t limit_ms, const std::string& subject,
                const std::function<int(base::UniqueFd signs)>& work);

}  // namespace terrane::tools
