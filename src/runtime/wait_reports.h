#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/core/core.h"
#include "runtime/thread_context.h"
#include "waiting/patience.h"

namespace terrane::runtime {

// The name of a token in messages: "lock 5", "the mutex at 0x7f...".
std::string name_of_token(LockId id);

// Log lines about long waits. Each node reports only what it knows. A thread that waits in a
// barrier reports which threads of its node, or which nodes below it in the tree, have not arrived.
// A thread that waits for pages reports which node has not answered. About a lock, the waiting
// thread reports, and the node of its holder.
class WaitReports {
 public:
  // Reports the thread's own wait (ThreadContext::waiting). The caller keeps the core unchanged.
  static void tell(const protocol::Core& core, const ThreadContext& context, double seconds);
  // Reports locks that threads here hold and others wait for. Called periodically. The caller keeps
  // the core unchanged.
  void look(const protocol::Core& core, const ThreadRegistry& threads);

 private:
  struct Held {
    std::uint64_t turn;
    waiting::Patience patience;
  };
  std::map<std::uint64_t, Held> held_;
  std::vector<protocol::LockManager::Wanted> wanted_;
};

}  // namespace terrane::runtime
