#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/unique_fd.h"

namespace terrane::runtime::chunks {

struct MemberChange {
  enum class Kind : std::uint8_t { kJoined = 1, kLeft, kDied };
  NodeId node;
  Kind kind = Kind::kJoined;
  std::string host;
};

// The nodes that joined, left and died, in the order of the launcher, until the program has taken
// them. Any thread may call.
class Members {
 public:
  void add(MemberChange change);
  // The next change. Waits for one until `deadline_ns` of platform::now_ns(); 0: does not wait.
  std::optional<MemberChange> next(std::uint64_t deadline_ns);
  // A descriptor that is readable while there is a change; -1: the system gives none (errno).
  int descriptor();

 private:
  void show();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<MemberChange> all_;
  base::UniqueFd event_;
};

}  // namespace terrane::runtime::chunks
