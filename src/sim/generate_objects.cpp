#include <algorithm>
#include <utility>

#include "protocol/hlrc/hlrc.h"
#include "sim/generate.h"

// Phases with read-write locks and with rendezvous, and operations with a deadline: locks are
// tried, and waits for semaphores and conditions expire and begin again.
namespace terrane::sim {

// Returns the number of these phases.
std::uint32_t Generator::objects(base::Prng& rng, std::uint32_t phase) {
  base::Prng* main = std::exchange(rng_, &rng);
  side_barriers_ = 0;
  try_and_expire();
  std::uint32_t count = rng.below(kObjectCounts - kMaxMeetings + 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!out_->setup.racy) assign(phase + i);
    if (rng.chance(60)) {
      exclude_by_read_write_lock(kMaxMeetings + i, phase + i);
    } else {
      meet_by_arrival(kMaxMeetings + i, phase + i);
    }
    barrier(phase + i);
  }
  rng_ = main;
  return count;
}

void Generator::try_and_expire() {
  for (auto& ops : out_->ops)
    for (Op& op : ops) {
      if (op.kind == OpKind::kLock && rng_->chance(40)) op.size = 1 + rng_->chance(50);
      if (op.kind == OpKind::kCondition && rng_->chance(40)) op.size = 1;
      if (op.kind == OpKind::kTake && rng_->chance(40)) op.value = 2;
    }
}

// Readers share the lock, and a writer has it alone.
void Generator::exclude_by_read_write_lock(std::uint32_t count, std::uint32_t phase) {
  const Slots slots = owned_[rng_->below(out_->threads())];
  for (std::uint32_t t = 0; t < out_->threads(); ++t) {
    if (!rng_->chance(70)) continue;
    for (std::uint32_t times = 1 + rng_->below(3); times-- > 0;) {
      bool writes = rng_->chance(40);
      auto size = static_cast<std::uint8_t>(writes ? 2 : 1);
      std::uint64_t units = writes ? protocol::Units::kMostReaders : 1;
      push(t, phase, {.kind = OpKind::kTake, .size = size, .at = count, .value = rng_->below(3)});
      read_some(t, phase, slots);
      if (writes) write_some(t, phase, slots);
      push(t, phase, {.kind = OpKind::kPost, .size = size, .at = count, .value = units});
    }
  }
}

// Threads write, arrive at a rendezvous, and read what the others wrote, for some rounds.
void Generator::meet_by_arrival(std::uint32_t count, std::uint32_t phase) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t t = 0; t < out_->threads(); ++t)
    if (rng_->chance(60)) members.push_back(t);
  if (members.empty()) return;
  auto& first = out_->ops[0];
  auto before = std::find_if(first.begin(), first.end(),
                             [](const Op& op) { return op.kind == OpKind::kBarrier; });
  first.insert(before, {.kind = OpKind::kPrepare, .at = count, .value = members.size()});
  for (std::uint32_t rounds = 1 + rng_->below(2); rounds-- > 0;) {
    for (std::uint32_t t : members) {
      write_some(t, phase, owned_[t]);
      push(t, phase, {.kind = OpKind::kArrive, .at = count});
      read_some(t, phase, owned_[members[rng_->below(static_cast<std::uint32_t>(members.size()))]]);
      push(t, phase, {.kind = OpKind::kArrive, .at = count});
    }
  }
}

}  // namespace terrane::sim
