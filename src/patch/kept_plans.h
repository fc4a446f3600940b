#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "patch/plan.h"

namespace terrane::patch {

// Plans of large files, kept in files of a folder: each start of a program would have to decode all
// of its code again. A kept plan serves as long as its file's device, inode, size and times are the
// same, and the build of Terrane; at most 4,096 are kept. What is damaged, of somebody else or
// cannot be written is as if it were not there. Any number of processes may use a folder at once;
// one makes a plan, and the others wait for it, a while.
class KeptPlans {
 public:
  // folder: made when it is needed, for its owner alone; empty: nothing is kept.
  explicit KeptPlans(std::string folder) : folder_(std::move(folder)) {}

  struct Wanted {
    std::string path;  // of the file
    bool without_jumps = false;
    Fences fences = Fences::kLeave;
    // Where the file's code is in this process, having been loaded `bias` higher than it says. A
    // kept plan serves only if these bytes are its instructions.
    std::uint64_t bias = 0;
    std::vector<CodeRange> code;
  };
  using Make = std::function<base::Result<Plan>()>;

  // The plan that is kept, or what `make` says. Errors: make's.
  base::Result<Plan> plan(const Wanted& wanted, const Make& make) const;

  // Smaller files are decoded at each start: that takes some 4 ms at most.
  static constexpr std::uint64_t kSmallestFile = 256 << 10;

 private:
  std::string folder_;
};

// Where plans are kept: the folder TERRANE_CACHE; without it, terrane in XDG_CACHE_HOME, or in
// .cache of HOME. Empty: nowhere (TERRANE_CACHE is empty, or there is no home).
std::string folder_of_plans();

}  // namespace terrane::patch
