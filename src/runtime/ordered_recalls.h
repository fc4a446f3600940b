#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "platform/wait.h"
#include "protocol/steps/effects.h"

namespace terrane::runtime {

// Recalls of synchronisation pages, each of which goes with a release. Under the engine's mutex,
// but for due_ns().
class OrderedRecalls {
 public:
  static constexpr std::uint64_t kNever = ~0ull;

  void add(const protocol::Recall& recall) {
    list_.push_back(recall);
    look();
  }
  // The time when the first one may be due; kNever: there is none. Any thread may ask.
  std::uint64_t due_ns() const { return due_ns_.load(); }
  bool is_due() const { return due_ns() != kNever && due_ns() <= platform::now_ns(); }
  // Threads may have let their pages go. Any thread may call.
  void look() {
    if (due_ns() != kNever || !list_.empty()) due_ns_.store(0);
  }
  // Removes one that is due. kept_until(block): threads of this node keep the page until then.
  template <typename KeptUntil>
  std::optional<protocol::Recall> next(KeptUntil kept_until) {
    std::uint64_t now = platform::now_ns(), due = kNever;
    for (auto at = list_.begin(); at != list_.end(); ++at) {
      std::uint64_t kept = kept_until(at->block.value);
      if (kept <= now) {
        protocol::Recall found = *at;
        list_.erase(at);
        due_ns_.store(list_.empty() ? kNever : 0);
        return found;
      }
      due = std::min(due, kept);
    }
    due_ns_.store(due);
    return std::nullopt;
  }

 private:
  std::vector<protocol::Recall> list_;
  std::atomic<std::uint64_t> due_ns_{kNever};
};

}  // namespace terrane::runtime
