#include <utility>

#include "sim/generate.h"

// Phases for situations that are rare in random programs: locks that move a block between nodes
// again and again between barriers, and barriers of some threads while other threads of their nodes
// do something else.
namespace terrane::sim {

// Phases in which threads write a word under a lock, so that it returns to earlier values, while
// other threads write its neighbours in the block. In the phases between, most threads only read
// the word. Returns the number of phases.
std::uint32_t Generator::duels(base::Prng& rng, std::uint32_t phase) {
  base::Prng* main = std::exchange(rng_, &rng);
  side_barriers_ = 0;
  std::uint32_t lock = rng.below(locks_);
  std::uint32_t count = 0;
  for (std::uint32_t rounds = 2 + rng.below(3); rounds-- > 0;) {
    const Slot* word = live_slot(phase + count);
    if (word == nullptr) break;
    for (std::uint32_t quiet = rng.below(3); quiet-- > 0; ++count) {
      read_by_most(*word, phase + count);
      barrier(phase + count);
    }
    for (std::uint32_t t = 0; t < out_->threads(); ++t) {
      const Slot* own = neighbour(*word, t);
      for (std::uint32_t i = rng.below(4); i-- > 0;) {
        if (own != nullptr && rng.chance(50)) duel_access(t, phase + count, *own, rng.chance(80));
        bool other = own != nullptr && rng.chance(30);
        std::uint32_t taken = other ? rng.below(locks_) : lock;
        push(t, phase + count, {.kind = OpKind::kLock, .at = taken});
        if (taken == lock && rng.chance(80)) duel_access(t, phase + count, *word, false);
        if (taken == lock && rng.chance(60)) duel_access(t, phase + count, *word, true);
        push(t, phase + count, {.kind = OpKind::kUnlock, .at = taken});
        if (own != nullptr && rng.chance(50)) duel_access(t, phase + count, *own, false);
      }
    }
    barrier(phase + count);
    ++count;
  }
  rng_ = main;
  return count;
}

// Most threads read a word in quiet phases, so that its copies are tracked. Then one thread writes
// the word. The first or the last threads of the nodes wait for each other in a side barrier and
// read it, while the others are on the way to a barrier or take locks. Returns the number of
// phases.
std::uint32_t Generator::side_meetings(base::Prng& rng, std::uint32_t phase) {
  base::Prng* main = std::exchange(rng_, &rng);
  side_barriers_ = 0;
  std::uint32_t lock = rng.below(locks_);
  std::uint32_t count = 0;
  const Slot* word = live_slot(phase);
  for (std::uint32_t rounds = 2 + rng.below(3); word != nullptr && rounds-- > 0; ++count) {
    for (std::uint32_t quiet = rng.below(3); quiet-- > 0; ++count) {
      read_by_most(*word, phase + count);
      barrier(phase + count);
    }
    bool both = rng.chance(50) && one_goes_to_both();
    std::uint32_t writer = rng.below(out_->threads());
    while (both ? !first_of_node(writer) : !last_of_node(writer))
      writer = (writer + 1) % out_->threads();
    for (std::uint32_t t = 0; t < out_->threads(); ++t) {
      if (t == writer) duel_access(t, phase + count, *word, true);
      bool gathers = t == 0 && both && base::Prng(phase * 31 + word->at).chance(50);
      if (gathers) {
        push(t, phase + count, {.kind = OpKind::kGather, .size = 1, .at = kFirstThreads});
        duel_access(t, phase + count, *word, false);
      }
      if (both && first_of_node(t)) side_barrier(t, phase + count, kFirstThreads);
      for (std::uint32_t i = both || last_of_node(t) ? 0 : rng.below(4); i-- > 0;) {
        push(t, phase + count, {.kind = OpKind::kLock, .at = lock});
        push(t, phase + count, {.kind = OpKind::kUnlock, .at = lock});
      }
      if (!last_of_node(t)) continue;
      side_barrier(t, phase + count, kLastThreads);
      if (rng.chance(70)) duel_access(t, phase + count, *word, false);
    }
    barrier(phase + count);
  }
  rng_ = main;
  return count;
}

const Generator::Slot* Generator::live_slot(std::uint32_t phase) {
  for (int tries = 0; tries < 20; ++tries) {
    const Slot& slot = slots_[rng_->below(static_cast<std::uint32_t>(slots_.size()))];
    if (phase >= lives_[slot.region].from && lives_[slot.region].to == ~0u) return &slot;
  }
  return nullptr;
}

// A slot of this thread in the block of the word, or nullptr.
const Generator::Slot* Generator::neighbour(const Slot& word, std::uint32_t thread) const {
  for (const Slot& slot : slots_)
    if (&slot != &word && slot.region == word.region && slot.thread == thread &&
        slot.at / out_->setup.block_bytes == word.at / out_->setup.block_bytes)
      return &slot;
  return nullptr;
}

void Generator::read_by_most(const Slot& word, std::uint32_t phase) {
  for (std::uint32_t t = 0; t < out_->threads(); ++t)
    if (rng_->chance(80)) duel_access(t, phase, word, false);
}

// Loads the slot, stores one of two values, or changes it by an atomic operation.
void Generator::duel_access(std::uint32_t thread, std::uint32_t phase, const Slot& slot,
                            bool store) {
  if (store && slot.size >= 4 && rng_->chance(15)) return atomic(thread, phase, slot);
  ++accesses_;
  push(thread, phase,
       {.kind = store ? OpKind::kStore : OpKind::kLoad,
        .size = slot.size,
        .region = slot.region,
        .at = slot.at,
        .value = store ? rng_->below(2) * 0x0101010101010101u : 0});
}

}  // namespace terrane::sim
