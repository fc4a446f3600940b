#include "runtime/shmem/lock.h"

#include <fmt/format.h>

#include <bit>

namespace terrane::runtime::shmem {
namespace {

static_assert(sizeof(long) == 8 && std::endian::native == std::endian::little);

constexpr std::uint32_t kWaiting = 1u << 31;  // in the high half; the rest is the successor + 1

struct Lock {
  Reach reach;
  NodeId self;
  NodeId home;
  SymmetricAddress tail;  // low half, counts at home
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
    // Locks have different homes, so that no PE has them all.
    home = NodeId{static_cast<std::uint32_t>(place->offset / sizeof(long) % world.pes())};
  }

  std::uint32_t name() const { return self.value + 1; }
  std::atomic_ref<std::uint32_t> own_link() const {
    return std::atomic_ref<std::uint32_t>(
        *reinterpret_cast<std::uint32_t*>(reach.world().memory().at(self, link)));
  }
};

}  // namespace

void set_lock(World& world, long* address) {
  Lock lock(world, address, "shmem_set_lock");
  std::atomic_ref<std::uint32_t> link = lock.own_link();
  link.fetch_or(kWaiting);
  std::uint32_t before = lock.reach.swap32(lock.home, lock.tail, lock.name());
  if (before == 0) {
    link.fetch_and(~kWaiting);
    return;
  }
  lock.reach.fetch_or32(NodeId{before - 1}, lock.link, lock.name());
  auto ours = [&] { return (link.load(std::memory_order_acquire) & kWaiting) == 0; };
  if (!ours()) world.wait_until(ours);
}

bool test_lock(World& world, long* address) {
  Lock lock(world, address, "shmem_test_lock");
  return lock.reach.compare_swap32(lock.home, lock.tail, 0, lock.name()) == 0;
}

void clear_lock(World& world, long* address) {
  Lock lock(world, address, "shmem_clear_lock");
  std::atomic_ref<std::uint32_t> link = lock.own_link();
  auto successor = [&] { return link.load(std::memory_order_acquire); };
  if (successor() == 0) {
    std::uint32_t last = lock.reach.compare_swap32(lock.home, lock.tail, lock.name(), 0);
    if (last == lock.name()) return;
    if (last == 0) {
      world.fail(
          fmt::format("shmem_clear_lock: nobody holds the lock at {}: only who has set it "
                      "may clear it",
                      static_cast<void*>(address)));
    }
    // Somebody is in the queue behind us, and about to say so.
    world.wait_until([&] { return successor() != 0; });
  }
  std::uint32_t next = link.exchange(0);
  lock.reach.fetch_and32(NodeId{next - 1}, lock.link, ~kWaiting);
}

}  // namespace terrane::runtime::shmem
