#include "runtime/thread_context.h"

#include <sys/mman.h>

#include <new>

#include "base/check.h"
#include "platform/fault_source.h"

namespace terrane::runtime {
namespace {

// A thread's link to its context; gives it back at thread exit. The registry is told apart by a
// number, so that a thread that outlives a node does not touch what is gone.
struct Link {
  ThreadContext* context = nullptr;
  ThreadRegistry* registry = nullptr;

  ~Link() {
    if (registry != nullptr && registry == live.load()) registry->give_back(*context);
  }

  static inline std::atomic<ThreadRegistry*> live{nullptr};
};
thread_local constinit Link link __attribute__((tls_model("initial-exec")));

}  // namespace

ThreadRegistry::~ThreadRegistry() {
  Link::live = nullptr;
  std::uint32_t count = made_.load();
  for (std::uint32_t i = 0; i < count; ++i) {
    contexts_[i]->~ThreadContext();
    ::munmap(contexts_[i], sizeof(ThreadContext));
  }
}

ThreadContext& ThreadRegistry::current() {
  if (link.registry == this) return *link.context;
  platform::ensure_signal_stack();
  link.context = &make();
  link.registry = this;
  return *link.context;
}

ThreadContext& ThreadRegistry::make() {
  std::lock_guard hold(mutex_);
  Link::live = this;
  if (!idle_.empty()) {
    ThreadContext* context = idle_.back();
    idle_.pop_back();
    return *context;
  }
  std::uint32_t index = made_.load(std::memory_order_relaxed);
  TERRANE_CHECK(index < kMaxThreads, "more than 4096 threads of a node use shared memory at once");
  void* at = ::mmap(nullptr, sizeof(ThreadContext), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TERRANE_CHECK(at != MAP_FAILED, "no memory for a thread's context");
  contexts_[index] = new (at) ThreadContext(protocol::WaiterId{index});
  made_.store(index + 1, std::memory_order_release);
  return *contexts_[index];
}

void ThreadRegistry::give_back(ThreadContext& context) {
  std::lock_guard hold(mutex_);
  idle_.push_back(&context);
}

}  // namespace terrane::runtime
