#include "sim/generate.h"

// What the threads of a program do, phase by phase (generate.cpp draws the fixed settings).
namespace terrane::sim {

void Generator::push(std::uint32_t thread, std::uint32_t phase, Op op) {
  op.phase = static_cast<std::uint8_t>(phase);
  out_->ops[thread].push_back(op);
}

void Generator::side_barrier(std::uint32_t thread, std::uint32_t phase, std::uint32_t id) {
  push(thread, phase, {.kind = OpKind::kSideBarrier, .at = id});
}

bool Generator::last_of_node(std::uint32_t thread) const {
  return thread + 1 == out_->threads() || first_of_node(thread + 1);
}

bool Generator::first_of_node(std::uint32_t thread) const {
  return thread == 0 || out_->thread_node[thread - 1] != out_->thread_node[thread];
}

void Generator::prologue() {
  std::uint32_t initial = changes_ ? reused_ : static_cast<std::uint32_t>(out_->regions.size());
  for (std::uint32_t t = 0; t < out_->threads(); ++t) {
    if (t != 0 && !(collective_ && first_of_node(t))) continue;
    for (std::uint32_t r = 0; r < initial; ++r) {
      push(t, 0,
           {.kind = OpKind::kAllocate,
            .region = static_cast<std::uint8_t>(r),
            .value = collective_ ? r + 1 : 0});
    }
  }
  barrier(0);
}

// One thread frees a region and allocates the one that reuses its blocks. In most programs threads
// of any node write to the region just before it is freed, and no thread releases these writes.
void Generator::region_changes(std::uint32_t phase) {
  if (!changes_ || phase != change_phase_) return;
  std::uint32_t t = rng_->below(out_->threads());
  auto freed = static_cast<std::uint8_t>(freed_);
  base::Prng aside = *rng_;  // a copy, so that the rest of a seed's program stays the same
  bool locked = aside.chance(50);
  std::uint32_t lock = aside.below(locks_);
  for (std::uint32_t u = 0; u < out_->threads(); ++u) {
    if (u == t && locked) push(t, phase, {.kind = OpKind::kLock, .at = lock});
    // Doomed stores of several threads race.
    if (aside.chance(u == t ? 70 : 30) && !out_->setup.check_races) doomed_stores(aside, u, phase);
  }
  push(t, phase, {.kind = OpKind::kFree, .region = freed});
  if (rng_->chance(30)) push(t, phase, {.kind = OpKind::kFreeAgain, .region = freed});
  if (locked) push(t, phase, {.kind = OpKind::kUnlock, .at = lock});
  push(t, phase, {.kind = OpKind::kAllocate, .region = static_cast<std::uint8_t>(reused_)});
  if (aside.chance(70)) read_fresh(t, phase);
}

// Stores to words of the region that is about to be freed.
void Generator::doomed_stores(base::Prng& rng, std::uint32_t thread, std::uint32_t phase) {
  for (std::uint32_t word : words_) {
    if (word >> 24 != freed_ || !rng.chance(60)) continue;
    push(thread, phase,
         {.kind = OpKind::kDoomedStore,
          .size = kWordBytes,
          .region = static_cast<std::uint8_t>(freed_),
          .at = word & 0xffffff,
          .value = rng.next() | 1});
  }
}

// Loads all words that will be used of the region that was just allocated: they are zeros.
void Generator::read_fresh(std::uint32_t thread, std::uint32_t phase) {
  for (std::uint32_t word : words_) {
    if (word >> 24 != reused_) continue;
    ++accesses_;
    push(thread, phase,
         {.kind = OpKind::kLoad,
          .size = kWordBytes,
          .region = static_cast<std::uint8_t>(reused_),
          .at = word & 0xffffff});
  }
}

void Generator::phase_of_thread(std::uint32_t thread, std::uint32_t phase) {
  auto& ops = out_->ops[thread];
  // Two barriers at once: the first threads enter one, and the last threads the other.
  bool first = side_barriers_ >= 1 && first_of_node(thread);
  bool second = side_barriers_ >= 2 && last_of_node(thread);
  bool reads_relayed = false;
  std::size_t stop = ops.size() + budget_ + rng_->below(4);
  for (int tries = 0; ops.size() < stop && tries < 200; ++tries) {
    if (rng_->chance(4)) sprinkle(thread, phase);
    std::uint32_t draw = rng_->below(100);
    bool racy = out_->setup.racy;
    if (const Slot* word = racy ? nullptr : pick(contended_); word && rng_->chance(25)) {
      atomic(thread, phase, *word);
    } else if (draw < 22) {
      section(thread, phase, rng_->below(locks_));
    } else if (racy) {
      racy_access(thread, phase);
    } else if (const Slot* slot = pick(first ? relayed_[thread] : all_relayed_);
               slot && (first || reads_relayed) && draw % 2 == 0) {
      access(thread, phase, *slot, first && draw < 60);
    } else if (const Slot* own = pick(draw < 75 ? owned_[thread] : shared_)) {
      access(thread, phase, *own, draw < 60);
    }
    if ((first || second) && rng_->chance(30)) {
      side_barrier(thread, phase, first ? kFirstThreads : kLastThreads);
      reads_relayed = first || one_goes_to_both();
      (first ? first : second) = false;
    }
  }
  if (first) side_barrier(thread, phase, kFirstThreads);
  if (second) side_barrier(thread, phase, kLastThreads);
}

bool Generator::one_goes_to_both() const {
  for (std::uint32_t t = 0; t < out_->threads(); ++t)
    if (first_of_node(t) && last_of_node(t)) return true;
  return false;
}

// Adds the accesses that are missing, by the threads in turns.
void Generator::fill_up(std::uint32_t phase) {
  std::uint32_t thread = 0;
  for (int tries = 0; accesses_ < kAccesses && tries < 1000; ++tries) {
    thread = thread + 1 < out_->threads() ? thread + 1 : 0;
    if (out_->setup.racy) {
      racy_access(thread, phase);
    } else if (const Slot* mine = pick(owned_[thread])) {
      access(thread, phase, *mine, rng_->chance(50));
    } else if (const Slot* read = pick(shared_)) {
      access(thread, phase, *read, false);
    } else {
      section(thread, phase, rng_->below(locks_));
    }
  }
}

// A critical section: read-modify-write and other accesses. Sometimes a lock with a higher number
// is taken inside. The locks are not always released in reverse order.
void Generator::section(std::uint32_t thread, std::uint32_t phase, std::uint32_t lock) {
  bool racy = out_->setup.racy;
  if (!racy && locked_[lock].empty() && !rng_->chance(10)) return;
  push(thread, phase, {.kind = OpKind::kLock, .at = lock});
  std::uint32_t inner = lock + 1 < locks_ && rng_->chance(30) ? lock + 1 : lock;
  for (std::uint32_t held = lock; held <= inner; ++held) {
    if (held != lock) push(thread, phase, {.kind = OpKind::kLock, .at = held});
    std::uint32_t count = 1 + rng_->below(4);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (racy) {
        racy_access(thread, phase);
      } else if (const Slot* slot = pick(locked_[held])) {
        if (rng_->chance(70)) access(thread, phase, *slot, false);
        if (rng_->chance(70)) access(thread, phase, *slot, true);
      }
    }
  }
  bool stack = rng_->chance(80);
  if (inner != lock) push(thread, phase, {.kind = OpKind::kUnlock, .at = stack ? inner : lock});
  push(thread, phase, {.kind = OpKind::kUnlock, .at = stack || inner == lock ? lock : inner});
}

const Generator::Slot* Generator::pick(const Slots& from) {
  if (from.empty()) return nullptr;
  return &slots_[from[rng_->below(static_cast<std::uint32_t>(from.size()))]];
}

// Mostly new values. Sometimes a value that may be there already, so that the store changes
// nothing.
std::uint64_t Generator::draw_value() {
  return rng_->chance(12) ? rng_->below(2) * 0x0101010101010101u : rng_->next();
}

// Most stores write one of two values, so that an earlier value returns over a value that other
// nodes have seen.
void Generator::repeat_values(base::Prng& rng) {
  for (auto& ops : out_->ops)
    for (Op& op : ops)
      if (op.kind == OpKind::kStore && !out_->regions[op.region].planted && rng.chance(80))
        op.value = rng.below(2) * 0x0101010101010101u;
}

void Generator::atomic(std::uint32_t thread, std::uint32_t phase, const Slot& slot) {
  constexpr std::uint32_t kKinds = 7;  // protocol::AtomicKind
  std::uint32_t kind = rng_->below(kKinds);
  ++accesses_;
  push(thread, phase,
       {.kind = OpKind::kAtomic,
        .size = static_cast<std::uint8_t>(slot.size | kind << 4),
        .region = slot.region,
        .at = slot.at,
        .value = draw_value()});
}

// Loads or stores the slot. Some stores are atomic operations.
void Generator::access(std::uint32_t thread, std::uint32_t phase, const Slot& slot, bool store) {
  if (store && slot.size >= 4 && !out_->setup.racy && rng_->chance(10)) {
    atomic(thread, phase, slot);
    return;
  }
  Op op{.kind = store ? OpKind::kStore : OpKind::kLoad,
        .size = slot.size,
        .region = slot.region,
        .at = slot.at};
  ++accesses_;
  if (store) op.value = draw_value();
  push(thread, phase, op);
}

void Generator::racy_access(std::uint32_t thread, std::uint32_t phase) {
  std::uint32_t word = words_[rng_->below(static_cast<std::uint32_t>(words_.size()))];
  std::uint32_t region = word >> 24;
  if (phase < lives_[region].from || phase >= lives_[region].to) return;
  std::uint32_t size = 1u << rng_->below(4);
  std::uint32_t offset = rng_->below(kWordBytes / size) * size;
  access(thread, phase,
         {static_cast<std::uint8_t>(region), static_cast<std::uint8_t>(size), Pattern::kRandom, 0,
          (word & 0xffffff) + offset, 0},
         rng_->chance(50));
}

void Generator::sprinkle(std::uint32_t thread, std::uint32_t phase) {
  if (rng_->chance(10)) {
    if (out_->setup.space_blocks == Setup{}.space_blocks)
      push(thread, phase, {.kind = OpKind::kNowhere});
    return;
  }
  std::uint32_t r =
      first_used_ + rng_->below(static_cast<std::uint32_t>(lives_.size()) - first_used_);
  if (phase < lives_[r].from || phase >= lives_[r].to) return;
  std::uint32_t blocks = out_->regions[r].blocks;
  std::uint32_t first = rng_->below(blocks);
  push(thread, phase,
       {.kind = OpKind::kEvict,
        .size = static_cast<std::uint8_t>(1 + rng_->below(blocks - first)),
        .region = static_cast<std::uint8_t>(r),
        .at = first,
        .value = rng_->below(3)});
}

void Generator::barrier(std::uint32_t phase) {
  std::uint32_t id = rng_->below(kFirstThreads);
  for (std::uint32_t t = 0; t < out_->threads(); ++t)
    push(t, phase, {.kind = OpKind::kBarrier, .at = id});
}

// After the last barrier each node reads all words that were used in regions that still exist.
void Generator::epilogue(std::uint32_t phase) {
  for (std::uint32_t t = 0; t < out_->threads(); ++t) {
    if (!first_of_node(t)) continue;
    for (std::uint32_t word : words_) {
      std::uint32_t region = word >> 24;
      if (phase < lives_[region].from || phase >= lives_[region].to) continue;
      push(t, phase,
           {.kind = OpKind::kFinalLoad,
            .size = kWordBytes,
            .region = static_cast<std::uint8_t>(region),
            .at = word & 0xffffff});
    }
  }
}

}  // namespace terrane::sim
