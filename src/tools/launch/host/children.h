#pragma once

#include <sys/types.h>

#include <functional>
#include <unordered_map>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// Takes in every child of this process that ends, also those that were orphaned by others and came
// to us, and tells the object that asked for it. One an engine.
class Children {
 public:
  explicit Children(Loop& loop) : loop_(loop) {}

  base::Result<> open();
  // Calls `handler` with the wait status once the child has ended.
  void expect(pid_t pid, std::function<void(int status)> handler);
  // Called with what has ended and before the handlers are.
  void before_handlers(std::function<void()> handler) { before_ = std::move(handler); }

 private:
  void reap();

  Loop& loop_;
  base::UniqueFd signals_;
  std::unordered_map<pid_t, std::function<void(int)>> expected_;
  std::function<void()> before_;
};

}  // namespace terrane::tools
