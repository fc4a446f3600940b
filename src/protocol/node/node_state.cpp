#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

NodeState::NodeState(const HlrcConfig& settings, const BlockMemory& memory, Core& the_core,
                     Predictor& the_predictor)
    : BlockLocks(memory.entries),
      config_(settings),
      core(the_core),
      predictor(the_predictor),
      entries(memory.entries),
      cached(memory.sets[0], config.blocks),
      open(memory.sets[9], config.blocks),
      leases(memory.sets[1], config.blocks),
      tracked(memory.sets[2], config.blocks),
      written(memory.sets[3], config.blocks),
      recent(memory.sets[4], config.blocks),
      idle(memory.sets[5], config.blocks),
      leaving(memory.sets[6], config.blocks),
      spare(memory.sets[7], config.blocks),
      homes(memory.sets[10], config.blocks),
      sealed(memory.sets[11], config.blocks),
      reached_(memory.reached),
      used_(memory.used) {}

void NodeState::add_cached(std::uint64_t block) {
  if (!cached.insert(block)) cached_count.fetch_add(1, std::memory_order_seq_cst);
  if (!mutant(Mutant::kMissKeepsVersion)) entries[block].version = 0;
  recent.insert(block);
  remove_idle(block);
  spare.erase(block);
}

void NodeState::remove_cached(std::uint64_t block) {
  if (!cached.contains(block)) return;
  cached.erase(block);
  recent.erase(block);
  close(block);
  remove_sealed(block);
  cached_count.fetch_sub(1, std::memory_order_relaxed);
}

void NodeState::close(std::uint64_t block) {
  if (!open.contains(block)) return;
  open.erase(block);
  open_count.fetch_sub(1);
}

void NodeState::add_home(std::uint64_t block) {
  if (entries[block].movable() && !homes.insert(block))
    home_count.fetch_add(1, std::memory_order_relaxed);
}

void NodeState::remove_home(std::uint64_t block) {
  if (!homes.contains(block)) return;
  homes.erase(block);
  home_count.fetch_sub(1, std::memory_order_relaxed);
}

void NodeState::add_sealed(std::uint64_t block) {
  if (!sealed.insert(block)) sealed_count.fetch_add(1, std::memory_order_relaxed);
}

void NodeState::remove_sealed(std::uint64_t block) {
  if (!sealed.contains(block)) return;
  sealed.erase(block);
  sealed_count.fetch_sub(1, std::memory_order_relaxed);
}

void NodeState::add_idle(std::uint64_t block) {
  if (!idle.insert(block)) idle_count.fetch_add(1, std::memory_order_relaxed);
}

void NodeState::remove_idle(std::uint64_t block) {
  if (!idle.contains(block)) return;
  idle.erase(block);
  idle_count.fetch_sub(1, std::memory_order_relaxed);
}

void NodeState::track(std::uint64_t block) {
  dirty_count.fetch_add(1, std::memory_order_release);
  tracked.insert(block);
}

Task<> NodeState::enter(Strand& s) {
  if (mutant(Mutant::kNoReleaseLock)) co_return;
  co_await s.pause();
  std::uint32_t free = 0;
  if (consistency_.compare_exchange_strong(free, 1, std::memory_order_acquire)) co_return;
  mark(Mark::kConsistencyLockContended);
  while (consistency_.exchange(2, std::memory_order_acquire) != 0) co_await s.wait(consistency_, 2);
}

Task<> NodeState::leave(Strand& s) {
  bool waited = consistency_.exchange(0, std::memory_order_release) == 2;
  if (waited && !mutant(Mutant::kLoseWake)) co_await s.wake(consistency_);
}

bool NodeState::try_enter() {
  std::uint32_t free = 0;
  return consistency_.compare_exchange_strong(free, 1, std::memory_order_acquire);
}

std::uint64_t NodeState::settled_activity() const {
  std::uint64_t now = activity.load();
  bool busy = consistency_.load() != 0 && !mutant(Mutant::kGrantDuringFlush);
  return busy ? kUnsettled : now;
}

void NodeState::select_cached(std::vector<BlockRange>& runs, BlockRange within) const {
  BlockRange run = cached.next_run(within.first, within.end());
  while (run.count > 0) {
    runs.push_back(run);
    run = cached.next_run(run.end(), within.end());
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
