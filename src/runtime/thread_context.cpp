#include "runtime/thread_context.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "platform/fault_source.h"
#include "platform/wait.h"

namespace terrane::runtime {

// If a thread asks for a page again soon after it lost it, it did not have the page for long
// enough. Then it keeps the page twice as long, up to about ten times the cost of passing a page on
// within a host. A thread that only reads the page again and again until another node writes to it
// waits no longer than that.
void LatestPages::add(std::uint64_t block, std::uint64_t now_ns) {
  constexpr std::uint64_t kLeastNs = 10'000;
  constexpr std::uint64_t kMostNs = 80'000;
  std::uint64_t stays_ns = kLeastNs;
  Slot* slot = nullptr;
  for (Slot& s : slots_) {
    if (s.block.load(std::memory_order_relaxed) != block) continue;
    slot = &s;
    std::uint64_t stayed_ns = s.until_ns.load(std::memory_order_relaxed) - s.since_ns;
    bool soon = now_ns - s.since_ns < 4 * stayed_ns;
    if (soon) stays_ns = std::clamp(2 * stayed_ns, kLeastNs, kMostNs);
  }
  if (slot == nullptr) slot = &slots_[oldest_];
  oldest_ = slot == &slots_[0] ? 1 : 0;
  slot->until_ns.store(0, std::memory_order_release);  // until then no thread holds that page
  slot->block.store(block, std::memory_order_release);
  slot->since_ns.store(now_ns, std::memory_order_relaxed);
  slot->until_ns.store(now_ns + stays_ns, std::memory_order_release);
  holds_ = true;
}

void LatestPages::let_go(std::uint64_t now_ns) {
  holds_ = false;
  for (Slot& slot : slots_) {
    if (slot.until_ns.load(std::memory_order_relaxed) > now_ns)
      slot.until_ns.store(now_ns, std::memory_order_release);
  }
}

std::uint64_t LatestPages::kept_until_ns(std::uint64_t block) const {
  for (const Slot& slot : slots_) {
    if (slot.block.load(std::memory_order_acquire) == block)
      return slot.until_ns.load(std::memory_order_acquire);
  }
  return 0;
}
namespace {

// The registry to which threads return their contexts when they end; nullptr: it is destroyed.
std::atomic<ThreadRegistry*> live{nullptr};

// A thread's link to its context. Initial-exec, and without a destructor, because its first use may
// be in a signal handler, where memory must not be allocated. A pthread key's destructor returns
// the context.
struct Link {
  ThreadContext* context;
  std::uint64_t
      registry;  // its serial() value: another registry may later be at the same address in memory
};
thread_local constinit Link link __attribute__((tls_model("initial-exec"))) = {};

void at_thread_exit(void* context) {
  if (ThreadRegistry* registry = live.load();
      registry != nullptr && registry->serial() == link.registry)
    registry->give_back(*static_cast<ThreadContext*>(context));
  link = {};
}

pthread_key_t exit_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    TERRANE_CHECK(pthread_key_create(&made, at_thread_exit) == 0, "a key for threads that end");
    return made;
  }();
  return key;
}

}  // namespace

ThreadRegistry::ThreadRegistry(std::function<void(ThreadContext&)> on_end)
    : on_end_(std::move(on_end)) {
  static std::atomic<std::uint64_t> made{0};
  serial_ = ++made;
  exit_key();
  live = this;
}

ThreadRegistry::~ThreadRegistry() {
  live = nullptr;
  std::uint32_t count = made_.load();
  for (std::uint32_t i = 0; i < count; ++i) {
    contexts_[i]->~ThreadContext();
    ::munmap(contexts_[i], sizeof(ThreadContext));
  }
}

ThreadContext& ThreadRegistry::current() {
  if (link.registry == serial_) return *link.context;
  platform::ensure_signal_stack();
  link = {&make(), serial_};
  link.context->thread = ::gettid();
  link.context->since_ns = platform::now_ns();
  link.context->role = nullptr;
  pthread_setspecific(exit_key(), link.context);
  return *link.context;
}

ThreadContext& ThreadRegistry::make() {
  std::lock_guard hold(mutex_);
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
  contexts_[index]->counters.sites = sites_;
  made_.store(index + 1, std::memory_order_release);
  return *contexts_[index];
}

ThreadContext& ThreadRegistry::deputy(ThreadContext& context) {
  if (context.deputy == nullptr) context.deputy = &make();
  context.deputy->thread = context.thread.load();
  return *context.deputy;
}

ThreadContext& ThreadRegistry::enter_handler() {
  ThreadContext& before = current();
  ThreadContext& own = make();
  own.thread = before.thread.load();
  own.role = nullptr;
  link.context = &own;
  return before;
}

void ThreadRegistry::leave_handler(ThreadContext& before) {
  ThreadContext& own = *std::exchange(link.context, &before);
  std::lock_guard hold(mutex_);
  idle_.push_back(&own);
}

void ThreadRegistry::give_back(ThreadContext& context) {
  if (on_end_) on_end_(context);
  context.lived_ns.add(platform::now_ns() - context.since_ns.exchange(0));
  std::lock_guard hold(mutex_);
  idle_.push_back(&context);
}

}  // namespace terrane::runtime
