#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/job_map.h"

namespace terrane::bootstrap {

// Which processes of a PMIx job have come to the wire-up, as far as this host can tell: PMIx makes
// a process wait for all others without a limit and does not say for which. A process is present as
// long as this object is: it holds a socket with a name in no folder that the others look for.
// Those that have not come are looked for among the processes of this host.
class Attendance {
 public:
  // `job`: its name in PMIx. `limit`: for all to come; 0: none. The error is one of the system.
  static base::Result<Attendance> begin(const std::string& job, std::uint32_t rank,
                                        const JobMap& map, std::chrono::milliseconds limit);

  // Why the job cannot be complete, or takes too long; nullopt: the others may still come. To be
  // asked every second or so.
  std::optional<std::string> objection();

 private:
  Attendance(const std::string& job, std::uint32_t rank, const JobMap& map,
             std::chrono::milliseconds limit)
      : job_(job), rank_(rank), map_(map), limit_(limit) {}

  std::set<std::uint32_t> missing_here() const;
  std::string too_late(const std::set<std::uint32_t>& missing) const;

  std::string job_;
  std::uint32_t rank_;
  const JobMap& map_;
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  base::UniqueFd sign_;
  std::set<std::uint32_t> gone_;  // of this host, at the last look
};

// TERRANE_START_TIMEOUT in seconds, 60 where it is not set; 0: no limit. The error names it.
base::Result<std::chrono::milliseconds> start_timeout();

}  // namespace terrane::bootstrap
