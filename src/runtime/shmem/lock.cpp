#include "runtime/shmem/lock.h"

#include <fmt/format.h>

#include <bit>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace terrane::runtime::shmem {
namespace {

static_assert(sizeof(long) == 8 && std::endian::native == std::endian::little);

constexpr std::uint32_t kWaiting = 1u << 31;  // in the high half; the rest is the successor + 1

struct Lock {
  Reach reach;
  NodeId self;
  NodeId home;
  SymmetricAddress tail;  // low half; used at the home only
  SymmetricAddress link;  // high half

  Lock(World& world, long* lock, const char* call) : reach(world), self(world.self()) {
    auto place = world.memory().locate(lock, sizeof *lock);
    if (!place) {
      world.fail(fmt::format(
          "{}: the lock at {} is not symmetric: use memory of shmem_malloc or a static variable",
          call, static_cast<void*>(lock)));
    }
    tail = *place;
    link = {place->part, place->offset + 4};
    // Different locks have different homes, so that no PE is the home of all.
    home = NodeId{static_cast<std::uint32_t>(place->offset / sizeof(long) % world.pes())};
  }

  std::uint32_t name() const { return self.value + 1; }
  std::atomic_ref<std::uint32_t> own_link() const {
    return std::atomic_ref<std::uint32_t>(
        *reinterpret_cast<std::uint32_t*>(reach.world().memory().at(self, link)));
  }
};

void fail_set_twice(World& world, const long* address) {
  world.fail(
      fmt::format("shmem_set_lock: this PE has set the lock at {} already, and would wait for "
                  "itself: clear it first by shmem_clear_lock",
                  static_cast<const void*>(address)));
}

// The thread of this PE that has a lock, or that waits in its queue for the PE.
class ThreadLocks {
 public:
  static ThreadLocks& of_process() {
    static auto* one = new ThreadLocks();  // never destroyed: threads may run on at the exit
    return *one;
  }
  bool try_take(const long* lock) {
    std::lock_guard hold(mutex_);
    return holders_.try_emplace(lock, std::this_thread::get_id()).second;
  }
  void take(World& world, const long* lock) {
    if (try_take(lock)) return;
    if (holder_is_this(lock)) return fail_set_twice(world, lock);
    world.wait_until([&] { return try_take(lock); });
  }
  void give(const long* lock) {
    std::lock_guard hold(mutex_);
    holders_.erase(lock);
  }
  bool has(const long* lock) {
    std::lock_guard hold(mutex_);
    return holders_.contains(lock);
  }

 private:
  bool holder_is_this(const long* lock) {
    std::lock_guard hold(mutex_);
    auto at = holders_.find(lock);
    return at != holders_.end() && at->second == std::this_thread::get_id();
  }

  std::mutex mutex_;
  std::unordered_map<const long*, std::thread::id> holders_;
};

}  // namespace

void set_lock(World& world, long* address, bool threads) {
  Lock lock(world, address, "shmem_set_lock");
  if (threads) ThreadLocks::of_process().take(world, address);
  std::atomic_ref<std::uint32_t> link = lock.own_link();
  link.fetch_or(kWaiting);
  std::uint32_t before = lock.reach.swap32(lock.home, lock.tail, lock.name());
  if (before == 0) {
    link.fetch_and(~kWaiting);
    return;
  }
  if (before == lock.name()) return fail_set_twice(world, address);
  lock.reach.fetch_or32(NodeId{before - 1}, lock.link, lock.name());
  auto ours = [&] { return (link.load(std::memory_order_acquire) & kWaiting) == 0; };
  if (!ours()) world.wait_until(ours);
}

bool test_lock(World& world, long* address, bool threads) {
  Lock lock(world, address, "shmem_test_lock");
  if (threads && !ThreadLocks::of_process().try_take(address)) return false;
  bool taken = lock.reach.compare_swap32(lock.home, lock.tail, 0, lock.name()) == 0;
  if (threads && !taken) ThreadLocks::of_process().give(address);
  return taken;
}

namespace {

void fail_not_held(World& world, const long* address) {
  world.fail(
      fmt::format("shmem_clear_lock: nobody holds the lock at {}: only the PE that has set it may "
                  "clear it",
                  static_cast<const void*>(address)));
}

// Hands the lock to the next PE in the queue.
void pass_on(World& world, const Lock& lock, const long* address) {
  std::atomic_ref<std::uint32_t> link = lock.own_link();
  auto successor = [&] { return link.load(std::memory_order_acquire); };
  if (successor() == 0) {
    std::uint32_t last = lock.reach.compare_swap32(lock.home, lock.tail, lock.name(), 0);
    if (last == lock.name()) return;
    if (last == 0) return fail_not_held(world, address);
    // Another PE is in the queue after us, and about to write its number.
    world.wait_until([&] { return successor() != 0; });
  }
  std::uint32_t next = link.exchange(0);
  lock.reach.fetch_and32(NodeId{next - 1}, lock.link, ~kWaiting);
}

}  // namespace

void clear_lock(World& world, long* address, bool threads) {
  Lock lock(world, address, "shmem_clear_lock");
  if (threads && !ThreadLocks::of_process().has(address)) return fail_not_held(world, address);
  pass_on(world, lock, address);
  if (threads) ThreadLocks::of_process().give(address);
}

}  // namespace terrane::runtime::shmem
