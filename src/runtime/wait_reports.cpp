#include "runtime/wait_reports.h"

#include <algorithm>

#include "base/log.h"
#include "protocol/core/object_ids.h"

namespace terrane::runtime {
namespace {

std::string list(const std::vector<NodeId>& nodes) {
  std::string text;
  for (NodeId node : nodes) text += fmt::format("{}{}", text.empty() ? "" : ", ", node.value);
  return text;
}

// What the thread's barrier waits for, if this thread is the one to report it.
std::string lacks(const protocol::Core& core, const ThreadContext& context) {
  auto wait = core.barriers().wait_of(BarrierId{static_cast<std::uint32_t>(context.waiting.id)},
                                      context.strand.waiter());
  if (!wait) return "";
  if (wait->threads_here < wait->threads)
    return fmt::format("{} of {} threads of this node have come", wait->threads_here,
                       wait->threads);
  if (wait->missing.empty()) return "";
  return fmt::format("no word from node {}: it has not come, or waits for others",
                     list(wait->missing));
}

// Reports a wait for pages, whatever the operation is.
bool tell_of_pages(const ThreadContext& context, double seconds) {
  if (const Exchange* open = context.open_exchange()) {
    base::log("has waited {:.3g} s for an answer about pages from node {}", seconds,
              open->from.value);
  } else if (!context.flushes.over()) {
    base::log("has waited {:.3g} s for homes to take in what was written here", seconds);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::string name_of_token(LockId id) {
  using protocol::ObjectKind;
  if (!protocol::is_object(id)) return fmt::format("lock {}", id.value);
  const char* kind = "?";
  switch (protocol::kind_of(id)) {
    case ObjectKind::kMutex:
      kind = "mutex";
      break;
    case ObjectKind::kOnce:
      kind = "pthread_once_t";
      break;
    case ObjectKind::kCondition:
      kind = "condition variable";
      break;
    case ObjectKind::kReadWriteLock:
      kind = "read-write lock";
      break;
    case ObjectKind::kSemaphore:
      kind = "semaphore";
      break;
    case ObjectKind::kBarrier:
      kind = "barrier";
      break;
    case ObjectKind::kAtomic:
      kind = "atomic variable";
      break;
  }
  return fmt::format("the {} at {:#x}", kind, protocol::address_of(id));
}

void WaitReports::tell(const protocol::Core& core, const ThreadContext& context, double seconds) {
  if (tell_of_pages(context, seconds)) return;
  const Waiting& waiting = context.waiting;
  auto number = static_cast<std::uint32_t>(waiting.id);
  switch (waiting.what) {
    case Waiting::For::kNothing:
      return;
    case Waiting::For::kBarrier:
      if (std::string what = lacks(core, context); !what.empty())
        base::log("has waited {:.3g} s in barrier {}: {}", seconds, number, what);
      return;
    case Waiting::For::kLeaving:
      base::log("has waited {:.3g} s in terrane_finalize for the other nodes", seconds);
      return;
    case Waiting::For::kLock:
    case Waiting::For::kObject:
      return base::log("has waited {:.3g} s for {}", seconds, name_of_token(LockId{waiting.id}));
    case Waiting::For::kCounter:
      return base::log("has waited {:.3g} s for counter {} to be at least {}", seconds, number,
                       waiting.until);
    case Waiting::For::kFlag:
      return base::log("has waited {:.3g} s for flag {} to be set", seconds, number);
    case Waiting::For::kSemaphore:
      return base::log("has waited {:.3g} s for a unit of semaphore {}", seconds, number);
    case Waiting::For::kCondition:
      return base::log("has waited {:.3g} s for a signal of condition {}", seconds, number);
  }
}

void WaitReports::look(const protocol::Core& core, const ThreadRegistry& threads) {
  wanted_.clear();
  core.locks().list_wanted(wanted_);
  std::erase_if(held_, [&](const auto& known) {
    return std::none_of(wanted_.begin(), wanted_.end(), [&](const auto& wanted) {
      return wanted.lock.value == known.first && wanted.turn == known.second.turn;
    });
  });
  for (const auto& wanted : wanted_) {
    Held& held = held_.try_emplace(wanted.lock.value, Held{wanted.turn, {}}).first->second;
    double seconds = held.patience.due();
    if (seconds == 0) continue;
    std::string who = wanted.by == kNoNode ? "another thread of this node"
                                           : fmt::format("node {}", wanted.by.value);
    base::log("thread {} has held {} for {:.3g} s, and {} waits for it",
              threads.at(wanted.holder).thread.load(), name_of_token(wanted.lock), seconds, who);
  }
}

}  // namespace terrane::runtime
