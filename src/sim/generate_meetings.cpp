#include <utility>

#include "sim/generate.h"

// Phases in which threads wait for each other by counters, semaphores and conditions. Each phase
// has a count of its own and ends with a barrier. A thread that waits for others has already done
// what others wait for, so threads never wait in a circle.
namespace terrane::sim {

// Returns the number of such phases. They are drawn from a seed of their own, so that a program
// without them stays the same.
std::uint32_t Generator::meetings(std::uint64_t seed) {
  base::Prng rng(seed);
  if (!rng.chance(35)) return 0;
  base::Prng* main = std::exchange(rng_, &rng);
  side_barriers_ = 0;
  std::uint32_t count = 1 + rng.below(kMaxMeetings);
  for (std::uint32_t meeting = 0; meeting < count; ++meeting) {
    std::uint32_t phase = phases_ + 1 + meeting;
    if (!out_->setup.racy) assign(phase);
    switch (rng.below(4)) {
      case 0:
        meet_by_counter(meeting, phase);
        break;
      case 1:
        meet_by_semaphore(meeting, phase);
        break;
      case 2:
        exclude_by_semaphore(meeting, phase);
        break;
      default:
        meet_by_condition(meeting, phase);
        break;
    }
    barrier(phase);
  }
  rng_ = main;
  return count;
}

// Phases in which little happens, with barriers that can be held in memory. Returns their number.
std::uint32_t Generator::lulls(base::Prng& rng, std::uint32_t phase) {
  base::Prng* main = std::exchange(rng_, &rng);
  out_->setup.most_unmet = rng.chance(70) ? 0 : 1 + rng.below(3);
  out_->setup.patience = 20u << rng.below(8);
  std::uint32_t id = rng.below(kFirstThreads);
  std::uint32_t count = 1 + rng.below(6);
  for (std::uint32_t end = phase + count; phase < end; ++phase) {
    side_barriers_ = 0;
    lull(phase);
    for (std::uint32_t t = 0; t < out_->threads(); ++t)
      push(t, phase, {.kind = OpKind::kBarrier, .at = id});
  }
  rng_ = main;
  return count;
}

// The operations of such a phase: none, or all copies are evicted, or some threads do something, or
// all do a little.
void Generator::lull(std::uint32_t phase) {
  std::uint32_t draw = rng_->below(100);
  if (draw < 35) return;
  if (draw < 80) {
    if (!out_->setup.racy) assign(phase);
    for (std::uint32_t t = 0; t < out_->threads(); ++t) {
      if (draw < 55) {
        evict_all(t, phase);
      } else if (rng_->chance(20)) {
        if (rng_->chance(50)) write_some(t, phase, owned_[t]);
        if (rng_->chance(30)) read_some(t, phase, shared_);
        const Slot* word = out_->setup.racy ? nullptr : pick(contended_);
        if (word != nullptr) atomic(t, phase, *word);
        if (rng_->chance(30)) evict_all(t, phase);
      }
    }
    return;
  }
  side_barriers_ = rng_->below(3);
  if (!out_->setup.racy) assign(phase);
  budget_ = rng_->below(3);
  for (std::uint32_t t = 0; t < out_->threads(); ++t) phase_of_thread(t, phase);
}

// Parallel regions of a team. The first thread gathers at the end of each region, goes on alone,
// and then begins the next region, with or without a broadcast. Returns the number of phases.
std::uint32_t Generator::team_regions(base::Prng& rng, std::uint32_t phase) {
  base::Prng* main = std::exchange(rng_, &rng);
  std::uint32_t id = rng.below(kFirstThreads);
  std::uint32_t count = 1 + rng.below(5);
  for (std::uint32_t i = 0; i < count; ++i) team_region(id, phase + i);
  rng_ = main;
  return count;
}

void Generator::team_region(std::uint32_t id, std::uint32_t phase) {
  lull(phase);
  push(0, phase, {.kind = OpKind::kGather, .at = id});
  if (!out_->setup.racy) assign(phase);
  if (rng_->chance(60)) {
    for (std::uint32_t times = 1 + rng_->below(2); times-- > 0;)
      read_some(0, phase, owned_[rng_->below(out_->threads())]);
    if (rng_->chance(70)) write_some(0, phase, owned_[rng_->below(out_->threads())]);
  }
  std::uint64_t told = rng_->chance(50) ? rng_->next() | 1 : 0;
  for (std::uint32_t t = 0; t < out_->threads(); ++t)
    push(t, phase, {.kind = OpKind::kBarrier, .size = 2, .at = id, .value = t == 0 ? told : 0});
}

void Generator::evict_all(std::uint32_t thread, std::uint32_t phase) {
  for (std::uint32_t r = first_used_; r < lives_.size(); ++r) {
    if (phase < lives_[r].from || phase >= lives_[r].to) continue;
    push(thread, phase,
         {.kind = OpKind::kEvict,
          .size = static_cast<std::uint8_t>(out_->regions[r].blocks),
          .region = static_cast<std::uint8_t>(r),
          .value = rng_->below(2)});
  }
}

// In the barriers of some phases every thread contributes a number, and gets the sum.
void Generator::reduce(base::Prng& rng) {
  std::uint64_t phases = rng.chance(25) ? rng.next() : 0;  // a bit each
  for (std::uint32_t t = 0; t < out_->threads(); ++t)
    for (Op& op : out_->ops[t]) {
      if (op.kind != OpKind::kBarrier || !(phases >> op.phase & 1)) continue;
      op.size = 1;
      op.value = rng.next();
    }
}

// A thread writes, creates others, and joins most of them. A created thread sees what was written
// before its creation. The creator sees what a thread has written when it has joined it. Creation
// and join are units of semaphores, as in a program whose threads run on several nodes. Returns the
// number of phases.
std::uint32_t Generator::creations(base::Prng& rng, std::uint32_t phase) {
  constexpr std::uint32_t kStarts = kObjectCounts, kEnds = kObjectCounts + 1;
  base::Prng* main = std::exchange(rng_, &rng);
  side_barriers_ = 0;
  if (!out_->setup.racy) assign(phase);
  std::uint32_t maker = rng.below(out_->threads());
  std::vector<std::uint32_t> joined;
  write_some(maker, phase, owned_[maker]);
  for (std::uint32_t t = 0; t < out_->threads(); ++t) {
    if (t == maker || !rng.chance(70)) continue;
    push(maker, phase, {.kind = OpKind::kPost, .at = kStarts, .value = 1});
    push(t, phase, {.kind = OpKind::kTake, .at = kStarts, .value = 1});
    read_some(t, phase, owned_[maker]);
    write_some(t, phase, owned_[t]);
    if (rng.chance(15)) continue;  // the thread is detached
    push(t, phase, {.kind = OpKind::kPost, .at = kEnds, .value = 1});
    joined.push_back(t);
  }
  for (std::size_t i = 0; i < joined.size(); ++i)
    push(maker, phase, {.kind = OpKind::kTake, .at = kEnds, .value = rng.chance(85) ? 1u : 0u});
  for (std::uint32_t t : joined) read_some(maker, phase, owned_[t]);
  barrier(phase);
  rng_ = main;
  return 1;
}

// Some threads write and add to a counter. Others wait until the counter has all of these
// additions, and read. A thread may do both.
void Generator::meet_by_counter(std::uint32_t meeting, std::uint32_t phase) {
  std::uint32_t threads = out_->threads();
  std::uint32_t sure = rng_->below(threads);
  bool sets = rng_->chance(30);  // one thread alone sets the value that the others wait for
  std::uint64_t sum = 0;
  Slots written;
  for (std::uint32_t t = 0; t < threads; ++t) {
    if (t != sure && (sets || !rng_->chance(40))) continue;
    written.insert(written.end(), owned_[t].begin(), owned_[t].end());
    for (std::uint32_t times = 1 + rng_->below(2); times-- > 0;) {
      std::uint64_t by = 1 + rng_->below(3);
      write_some(t, phase, owned_[t]);
      sum = sets ? by : sum + by;
      push(t, phase, {.kind = sets ? OpKind::kSet : OpKind::kAdd, .at = meeting, .value = sum});
      if (!sets) out_->ops[t].back().value = by;
      if (sets) break;
    }
  }
  for (std::uint32_t t = 0; t < threads; ++t) {
    if (!rng_->chance(60)) continue;
    if (rng_->chance(30)) push(t, phase, {.kind = OpKind::kAwait, .at = meeting, .value = 1});
    push(t, phase, {.kind = OpKind::kAwait, .at = meeting, .value = sum});
    read_some(t, phase, written);
  }
}

// One thread writes and posts. Each unit lets one of the other threads read.
void Generator::meet_by_semaphore(std::uint32_t meeting, std::uint32_t phase) {
  std::uint32_t from = rng_->below(out_->threads());
  write_some(from, phase, owned_[from]);
  std::uint64_t units = 0;
  for (std::uint32_t t = 0; t < out_->threads(); ++t) {
    if (t == from || !rng_->chance(60)) continue;
    for (std::uint32_t times = 1 + rng_->below(2); times-- > 0; ++units) {
      push(t, phase, {.kind = OpKind::kTake, .at = meeting, .value = rng_->chance(85) ? 1u : 0u});
      read_some(t, phase, owned_[from]);
    }
  }
  bool together = rng_->chance(50);
  if (together && units > 0)
    push(from, phase, {.kind = OpKind::kPost, .at = meeting, .value = units});
  for (std::uint64_t unit = 0; !together && unit < units; ++unit)
    push(from, phase, {.kind = OpKind::kPost, .at = meeting, .value = 1});
}

// A semaphore with one unit protects a critical section.
void Generator::exclude_by_semaphore(std::uint32_t meeting, std::uint32_t phase) {
  std::uint32_t from = rng_->below(out_->threads());
  const Slots slots = owned_[rng_->below(out_->threads())];
  push(from, phase, {.kind = OpKind::kPost, .at = meeting, .value = 1});
  for (std::uint32_t t = 0; t < out_->threads(); ++t) {
    if (!rng_->chance(60)) continue;
    for (std::uint32_t times = 1 + rng_->below(2); times-- > 0;) {
      push(t, phase, {.kind = OpKind::kTake, .at = meeting, .value = rng_->chance(85) ? 1u : 0u});
      read_some(t, phase, slots);
      write_some(t, phase, slots);
      push(t, phase, {.kind = OpKind::kPost, .at = meeting, .value = 1});
    }
  }
}

// One thread makes a predicate true under a lock and signals. The others wait for it with the lock.
void Generator::meet_by_condition(std::uint32_t meeting, std::uint32_t phase) {
  std::uint32_t lock = rng_->below(locks_);
  std::uint32_t from = rng_->below(out_->threads());
  const Slots& slots = locked_[lock];
  std::uint32_t waiting = 0;
  for (std::uint32_t t = 0; t < out_->threads(); ++t) {
    if (t == from || !rng_->chance(60)) continue;
    ++waiting;
    push(t, phase, {.kind = OpKind::kLock, .at = lock});
    if (rng_->chance(50)) write_some(t, phase, slots);
    push(t, phase, {.kind = OpKind::kCondition, .at = meeting, .value = lock});
    read_some(t, phase, slots);
    push(t, phase, {.kind = OpKind::kUnlock, .at = lock});
  }
  bool all = rng_->chance(50);
  bool under_lock = rng_->chance(50);
  push(from, phase, {.kind = OpKind::kLock, .at = lock});
  read_some(from, phase, slots);
  write_some(from, phase, slots);
  push(from, phase, {.kind = OpKind::kReady, .at = meeting});
  if (!under_lock) push(from, phase, {.kind = OpKind::kUnlock, .at = lock});
  for (std::uint32_t i = 0; i < (all ? 1 : waiting); ++i)
    push(from, phase, {.kind = OpKind::kSignal, .at = meeting, .value = all ? 1u : 0u});
  if (under_lock) push(from, phase, {.kind = OpKind::kUnlock, .at = lock});
}

void Generator::write_some(std::uint32_t thread, std::uint32_t phase, const Slots& slots) {
  for (std::uint32_t i = 1 + rng_->below(3); i-- > 0;) {
    if (out_->setup.racy) {
      racy_access(thread, phase);
    } else if (const Slot* slot = pick(slots)) {
      access(thread, phase, *slot, true);
    }
  }
}

void Generator::read_some(std::uint32_t thread, std::uint32_t phase, const Slots& slots) {
  for (std::uint32_t i = 1 + rng_->below(3); i-- > 0;) {
    if (out_->setup.racy) {
      racy_access(thread, phase);
    } else if (const Slot* slot = pick(slots)) {
      access(thread, phase, *slot, false);
    }
  }
}

}  // namespace terrane::sim
