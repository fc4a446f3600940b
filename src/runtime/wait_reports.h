#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/core/core.h"
#include "runtime/thread_context.h"
#include "runtime/waiting/patience.h"

namespace terrane::runtime {

// What messages call it: "lock 5", "the mutex at 0x7f...".
std::string name_of_token(LockId id);

// Sentences about waits that last long: each node tells what it knows itself. A barrier is spoken
// of by whoever lacks somebody: its threads, or the nodes below in the tree. Pages by who waits for
// another node's answer. A lock is spoken of by who waits for it, and by the node whose thread
// holds it.
class WaitReports {
 public:
  // About the thread's own wait (ThreadContext::waiting). The core is not changed meanwhile.
  static void tell(const protocol::Core& core, const ThreadContext& context, double seconds);
  // About locks held here that others wait for; called now and then. The core is not changed
  // meanwhile.
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
