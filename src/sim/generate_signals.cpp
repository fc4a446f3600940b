#include "sim/generate_signals.h"

#include <algorithm>
#include <utility>

namespace terrane::sim {

std::uint32_t Generator::Signals::draw(base::Prng& rng, std::uint32_t phase) {
  Setup& setup = all.out_->setup;
  bool some = rng.chance(20);
  base::Prng aside(base::Prng(rng).next() ^ 0x5e9);  // so that other programs stay the same
  setup.sequential = aside.chance(10) && !setup.check_races;
  std::uint32_t count = !setup.racy && (some || setup.sequential) ? add(rng, phase) : 0;
  add_fences(rng);
  return count;
}

// Returns the number of these phases.
std::uint32_t Generator::Signals::add(base::Prng& rng, std::uint32_t phase) {
  auto eager = [](const RegionPlan& region) { return region.protocol == 1; };
  if (std::any_of(all.out_->regions.begin(), all.out_->regions.end(), eager)) return 0;
  base::Prng* main = std::exchange(all.rng_, &rng);
  all.side_barriers_ = 0;
  std::uint32_t count = 1 + rng.below(2);
  for (std::uint32_t i = 0; i < count; ++i) {
    all.assign(phase + i);
    std::uint32_t draw = rng.below(3);
    base::Prng aside(base::Prng(rng).next() ^ 0xfe9ce);
    bool fences = aside.chance(40);
    if (fences) draw = 3;
    if (fences) chain_by_fences(phase + i);
    if (draw == 0) chain(phase + i);
    if (draw == 1) exclude_by_spinning(phase + i);
    if (draw == 2) exclude_by_turns(phase + i);
    all.barrier(phase + i);
  }
  all.rng_ = main;
  return count;
}

// Words of one region that nothing else uses, in the form of operations. Few or none, if there are
// no such words.
std::vector<Op> Generator::Signals::draw_flags(std::uint32_t count, std::uint32_t phase) {
  std::vector<Op> flags;
  std::uint32_t r =
      all.first_used_ +
      all.rng_->below(static_cast<std::uint32_t>(all.lives_.size()) - all.first_used_);
  bool lives = phase >= all.lives_[r].from && all.lives_[r].to == ~0u;
  if (!lives || all.out_->regions[r].sc()) return flags;
  std::uint32_t words = all.out_->regions[r].blocks * all.out_->setup.block_bytes / kWordBytes;
  for (int tries = 0; tries < 50 && flags.size() < count; ++tries) {
    std::uint32_t name = r << 24 | all.rng_->below(words) * kWordBytes;
    if (std::find(all.words_.begin(), all.words_.end(), name) != all.words_.end()) continue;
    all.words_.push_back(name);
    flags.push_back(
        {.size = kWordBytes, .region = static_cast<std::uint8_t>(r), .at = name & 0xffffff});
  }
  return flags;
}

void Generator::Signals::flag(std::uint32_t thread, std::uint32_t phase, OpKind kind,
                              const Op& word, std::uint64_t value) {
  Op op = word;
  op.kind = kind;
  op.value = value;
  all.push(thread, phase, op);
}

// One thread writes what others read when they have seen its flag; then they tell it by theirs.
// Some flags are stored before anybody has promoted their pages.
void Generator::Signals::chain(std::uint32_t phase) {
  std::uint32_t threads = all.out_->threads();
  std::vector<Op> flags = draw_flags(threads, phase);
  if (flags.size() < 2) return;
  std::uint32_t writer = all.rng_->below(threads);
  std::vector<std::uint32_t> readers;
  for (std::uint32_t t = 0; t < threads; ++t)
    if (t != writer && readers.size() + 1 < flags.size() && all.rng_->chance(50))
      readers.push_back(t);
  for (std::uint32_t round = 1 + all.rng_->below(3), i = 1; i <= round; ++i) {
    all.write_some(writer, phase, all.owned_[writer]);
    if (all.rng_->chance(40)) flag(writer, phase, OpKind::kPromote, flags[0]);
    flag(writer, phase, OpKind::kFlagStore, flags[0], i);
    for (std::size_t n = 0; n < readers.size(); ++n) {
      flag(readers[n], phase, OpKind::kFlagAwait, flags[0], i);
      all.read_some(readers[n], phase, all.owned_[writer]);
      flag(readers[n], phase, OpKind::kFlagStore, flags[n + 1], i);
      flag(writer, phase, OpKind::kFlagAwait, flags[n + 1], i);
    }
  }
  for (std::uint32_t t = 0; t < threads; ++t)
    if (t != writer && all.rng_->chance(30)) all.write_some(t, phase, all.owned_[t]);
}

void Generator::Signals::chain_by_fences(std::uint32_t phase) {
  std::uint32_t threads = all.out_->threads();
  std::vector<Op> flags = draw_flags(threads, phase);
  auto fence = [&](std::uint32_t thread) { flag(thread, phase, OpKind::kFence, {}); };
  auto tell = [&](std::uint32_t thread, const Op& word, std::uint64_t value) {
    fence(thread);
    flag(thread, phase, OpKind::kFlagStore, word, value);
    fence(thread);
  };
  auto await = [&](std::uint32_t thread, const Op& word, std::uint64_t value) {
    flag(thread, phase, OpKind::kFenceAwait, word, value);
    fence(thread);
  };
  if (flags.size() < threads || threads < 2) return;
  // In each round the threads hand a token on. The thread that has it may write the shared words.
  std::uint32_t first = all.rng_->below(threads);
  std::uint32_t owner = all.rng_->below(threads);
  std::uint32_t users = 2 + all.rng_->below(std::min(threads - 1, 3u));
  for (std::uint32_t round = 1 + all.rng_->below(3), i = 1; i <= round; ++i) {
    for (std::uint32_t n = 0; n < users; ++n) {
      std::uint32_t t = (first + n) % threads;
      std::uint32_t before = (first + (n + users - 1) % users) % threads;
      if (n > 0 || i > 1) await(t, flags[before], n > 0 ? i : i - 1);
      all.read_some(t, phase, all.owned_[owner]);
      all.write_some(t, phase, all.owned_[owner]);
      tell(t, flags[t], i);
    }
  }
}

void Generator::Signals::add_fences(base::Prng& rng) {
  if (all.plants_) return;  // a fence would order what is planted
  base::Prng aside(base::Prng(rng).next() ^ 0xfe2ce);
  if (!aside.chance(all.out_->setup.racy ? 30 : 10)) return;
  std::uint32_t percent = 5 + aside.below(30);
  for (auto& ops : all.out_->ops) {
    std::vector<Op> with;
    for (const Op& op : ops) {
      with.push_back(op);
      bool apart = op.kind == OpKind::kGather || op.kind == OpKind::kAllocate;
      if (!apart && aside.chance(percent))
        with.push_back({.kind = OpKind::kFence, .phase = op.phase});
    }
    ops = std::move(with);
  }
}

// A spin lock: an exchange takes it, a plain store frees it.
void Generator::Signals::exclude_by_spinning(std::uint32_t phase) {
  std::vector<Op> flags = draw_flags(1, phase);
  if (flags.empty()) return;
  std::uint32_t owner = all.rng_->below(all.out_->threads());
  for (std::uint32_t t = 0; t < all.out_->threads(); ++t) {
    for (std::uint32_t times = all.rng_->below(4); times-- > 0;) {
      if (t != owner && all.rng_->chance(30)) all.write_some(t, phase, all.owned_[t]);
      flag(t, phase, OpKind::kFlagSwap, flags[0], 1);
      all.read_some(t, phase, all.owned_[owner]);
      all.write_some(t, phase, all.owned_[owner]);
      flag(t, phase, OpKind::kFlagStore, flags[0], 0);
    }
  }
}

// Two threads exclude each other: each says that it wants to, lets the other one go first, and
// waits while that one wants to and it is its turn.
void Generator::Signals::exclude_by_turns(std::uint32_t phase) {
  std::vector<Op> flags = draw_flags(3, phase);
  std::uint32_t threads = all.out_->threads();
  if (flags.size() < 3 || threads < 2) return;
  std::uint32_t two[2] = {all.rng_->below(threads), 0};
  two[1] = (two[0] + 1 + all.rng_->below(threads - 1)) % threads;
  std::uint32_t owner = two[all.rng_->below(2)];
  for (std::uint32_t i = 0; i < 2; ++i) {
    std::uint32_t t = two[i];
    for (const Op& word : flags) flag(t, phase, OpKind::kPromote, word);
    for (std::uint32_t times = 1 + all.rng_->below(3); times-- > 0;) {
      std::uint64_t other = 2 - i;  // turns are 1 and 2
      flag(t, phase, OpKind::kFlagStore, flags[i], 1);
      flag(t, phase, OpKind::kFlagStore, flags[2], other);
      flag(t, phase, OpKind::kFlagYields, flags[1 - i], other << 32 | flags[2].at);
      all.read_some(t, phase, all.owned_[owner]);
      all.write_some(t, phase, all.owned_[owner]);
      flag(t, phase, OpKind::kFlagStore, flags[i], 0);
    }
  }
}

}  // namespace terrane::sim
