#include "sim/generate.h"

#include <algorithm>

namespace terrane::sim {
namespace {

constexpr std::uint32_t kAccesses = 204;                   // of a history, at least
constexpr std::uint32_t kExplicitHomes = 3;                // protocol::Homes
constexpr std::uint32_t kFirstThreads = kMaxBarriers - 2;  // barriers for one thread of each node
constexpr std::uint32_t kLastThreads = kMaxBarriers - 1;

}  // namespace

bool counts(const Program& program) {
  std::uint32_t accesses = 0;
  bool lock = false;
  bool barrier = false;
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    for (const Op& op : program.ops[t]) {
      accesses += op.kind == OpKind::kLoad || op.kind == OpKind::kStore;
      lock |= op.kind == OpKind::kLock;
      barrier |= op.kind == OpKind::kBarrier;
    }
  }
  return program.setup.nodes >= 4 && accesses >= 200 && lock && barrier;
}

void Generator::generate(base::Prng& rng, const Shape& shape, Program& out) {
  rng_ = &rng;
  out_ = &out;
  accesses_ = 0;
  draw_setup(shape);
  draw_threads();
  draw_regions();
  draw_slots();
  prologue();
  for (std::uint32_t phase = 1; phase <= phases_; ++phase) {
    side_barriers_ = rng.chance(75) ? 0 : 1 + rng.below(2);
    if (!out.setup.racy) assign(phase);
    region_changes(phase);
    for (std::uint32_t t = 0; t < out.threads(); ++t) phase_of_thread(t, phase);
    if (phase == phases_) fill_up(phase);
    barrier(phase);
  }
  epilogue(phases_ + 1);
}

void Generator::draw_setup(const Shape& shape) {
  Setup& setup = out_->setup;
  setup = Setup{};
  setup.nodes = shape.nodes ? shape.nodes : 4 + rng_->below(3);
  setup.block_bytes = rng_->chance(70) ? 64 : 128;
  setup.barrier_arity = 2 + rng_->below(3);
  if (rng_->chance(20)) setup.max_cached = 2 + rng_->below(4);
  if (rng_->chance(20)) setup.max_log_ranges = 1 + rng_->below(8);
  if (rng_->chance(12)) setup.populate_fails_percent = 5 + rng_->below(50);
  bool scan = rng_->chance(50);
  bool racy = rng_->chance(30);
  setup.scan = shape.detection == Detection::kMix ? scan : shape.detection == Detection::kScan;
  setup.enters_protected = rng_->chance(67) || setup.scan;
  setup.racy = shape.racy == Mix::kMix ? racy : shape.racy == Mix::kOnly;
  phases_ = 2 + rng_->below(4);
  locks_ = 1 + rng_->below(4);
}

void Generator::draw_threads() {
  out_->thread_node.clear();
  std::uint32_t most = out_->setup.nodes <= 8 && rng_->chance(20) ? 3 : 2;
  for (std::uint32_t node = 0; node < out_->setup.nodes; ++node) {
    std::uint32_t here = 1 + rng_->below(most);
    for (std::uint32_t i = 0; i < here; ++i) out_->thread_node.push_back(node);
  }
  std::uint32_t threads = out_->threads();
  if (out_->ops.size() < threads) out_->ops.resize(threads);
  for (auto& ops : out_->ops) ops.clear();
  budget_ = kAccesses / (threads * phases_) + 1;
}

// Sometimes a region that nobody touches comes first, so that the blocks in use lie across the
// boundary where the directory of owners goes to the next node.
void Generator::draw_regions() {
  auto& regions = out_->regions;
  regions.clear();
  lives_.clear();
  auto add = [&](std::uint32_t blocks, Life life) {
    std::uint32_t homes = rng_->chance(40) ? 0 : rng_->below(4);
    regions.push_back({blocks, homes, rng_->below(out_->setup.nodes)});
    lives_.push_back(life);
  };
  first_used_ = 0;
  if (rng_->chance(50)) {
    add(58 + rng_->below(6), {0, 0});
    first_used_ = 1;
  }
  std::uint32_t count = 1 + rng_->below(3);
  std::uint32_t most = 4;
  if (rng_->chance(30)) count = most = 1;  // one block, in which everybody meets
  for (std::uint32_t i = 0; i < count; ++i) add(1 + rng_->below(most), {1, ~0u});
  changes_ = phases_ >= 3 && rng_->chance(25);
  if (changes_) {
    change_phase_ = 2 + rng_->below(phases_ - 2);  // freed at its start, used again after it
    freed_ = static_cast<std::uint32_t>(regions.size()) - 1;
    reused_ = freed_ + 1;
    lives_[freed_].to = change_phase_;
    add(rng_->chance(70) ? regions[freed_].blocks : 1 + rng_->below(4), {change_phase_ + 1, ~0u});
    if (rng_->chance(70)) {  // no other room: the allocation waits for the freed blocks
      std::uint32_t total = 0;
      for (std::uint32_t r = 0; r < reused_; ++r) total += regions[r].blocks;
      regions[reused_].blocks = std::min(regions[reused_].blocks, regions[freed_].blocks);
      out_->setup.space_blocks = total;
    }
  }
  collective_ = rng_->chance(50);
}

void Generator::draw_slots() {
  slots_.clear();
  words_.clear();
  auto& regions = out_->regions;
  std::uint32_t block_words = out_->setup.block_bytes / kWordBytes;
  for (std::uint32_t r = first_used_; r < regions.size(); ++r) {
    std::uint32_t words = 3 + rng_->below(6);
    by_home_ = regions[r].homes == kExplicitHomes && rng_->chance(60);
    home_ = regions[r].home;
    for (std::uint32_t i = 0; i < words; ++i) {
      // Neighbours within a block, so that blocks are shared falsely.
      std::uint32_t word = rng_->below(regions[r].blocks) * block_words + rng_->below(3);
      if (rng_->chance(10)) word += block_words - 3;
      std::uint32_t name = r << 24 | word * kWordBytes;
      if (std::find(words_.begin(), words_.end(), name) != words_.end()) continue;
      words_.push_back(name);
      split_word(r, word * kWordBytes, static_cast<Pattern>(rng_->below(6)));
    }
  }
}

// A word in aligned pieces of 1, 2, 4 or 8 bytes, each of which goes its own way.
void Generator::split_word(std::uint32_t region, std::uint32_t at, Pattern pattern) {
  for (std::uint32_t done = 0; done < kWordBytes;) {
    std::uint32_t size = 1u << rng_->below(4);
    while (done % size != 0 || done + size > kWordBytes) size /= 2;
    if (rng_->chance(30)) pattern = static_cast<Pattern>(rng_->below(6));
    slots_.push_back({static_cast<std::uint8_t>(region), static_cast<std::uint8_t>(size), pattern,
                      static_cast<std::uint8_t>(rng_->below(locks_)), at + done, draw_owner()});
    done += size;
  }
}

// Sometimes the threads of a region's home are the ones that write it, as in programs that place
// their data.
std::uint32_t Generator::draw_owner() {
  std::uint32_t thread = rng_->below(out_->threads());
  if (by_home_)
    while (out_->thread_node[thread] != home_) thread = (thread + 1) % out_->threads();
  return thread;
}

// Who may do what with each slot in this phase.
void Generator::assign(std::uint32_t phase) {
  for (Slots& slots : owned_) slots.clear();
  for (Slots& slots : locked_) slots.clear();
  for (Slots& slots : relayed_) slots.clear();
  shared_.clear();
  all_relayed_.clear();
  std::uint32_t threads = out_->threads();
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (phase < lives_[slot.region].from || phase >= lives_[slot.region].to) continue;
    Slots* to = &owned_[slot.thread];
    if (slot.pattern == Pattern::kMigratory) to = &locked_[slot.lock];
    if (slot.pattern == Pattern::kProducer && (phase + slot.thread) % 2 == 0) to = &shared_;
    if (slot.pattern == Pattern::kRotating) to = &owned_[(slot.thread + phase) % threads];
    if (slot.pattern == Pattern::kReadMostly && phase % 3 != slot.thread % 3) to = &shared_;
    if (slot.pattern == Pattern::kRandom) {
      std::uint32_t draw = rng_->below(3);
      if (draw == 0) to = &owned_[slot.thread];
      if (draw == 1) to = &locked_[rng_->below(locks_)];
      if (draw == 2) to = &shared_;
    }
    relay_or_push(to, static_cast<std::uint16_t>(i));
  }
}

// Where the first threads of the nodes meet in a phase, some of what one of them owns is written
// before and read after by others: by the first threads, or by the last ones that meet later, if
// one thread goes to both meetings.
void Generator::relay_or_push(Slots* to, std::uint16_t slot) {
  std::uint32_t owner = static_cast<std::uint32_t>(to - owned_);
  bool owned = to >= owned_ && to < owned_ + kMaxThreads;
  if (side_barriers_ == 0 || !owned || !first_of_node(owner) || rng_->chance(40)) {
    to->push_back(slot);
    return;
  }
  relayed_[owner].push_back(slot);
  all_relayed_.push_back(slot);
}

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

// The region that dies is freed by one thread, and the one that follows allocated by the same.
void Generator::region_changes(std::uint32_t phase) {
  if (!changes_ || phase != change_phase_) return;
  std::uint32_t t = rng_->below(out_->threads());
  auto freed = static_cast<std::uint8_t>(freed_);
  push(t, phase, {.kind = OpKind::kFree, .region = freed});
  if (rng_->chance(30)) push(t, phase, {.kind = OpKind::kFreeAgain, .region = freed});
  push(t, phase, {.kind = OpKind::kAllocate, .region = static_cast<std::uint8_t>(reused_)});
}

void Generator::phase_of_thread(std::uint32_t thread, std::uint32_t phase) {
  auto& ops = out_->ops[thread];
  // The first threads meet at one, and the last ones at another: two barriers at once.
  bool first = side_barriers_ >= 1 && first_of_node(thread);
  bool second = side_barriers_ >= 2 && last_of_node(thread);
  bool reads_relayed = false;
  std::size_t stop = ops.size() + budget_ + rng_->below(4);
  for (int tries = 0; ops.size() < stop && tries < 200; ++tries) {
    if (rng_->chance(4)) sprinkle(thread, phase);
    std::uint32_t draw = rng_->below(100);
    if (draw < 22) {
      section(thread, phase, rng_->below(locks_));
    } else if (out_->setup.racy) {
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

// Accesses that are missing, by threads in turns.
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

// A critical section: read-modify-write and other accesses, sometimes a lock of higher number
// within, not always given back in the order of a stack.
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

// Mostly values never seen before; sometimes ones that are there already, so that a store changes
// nothing.
std::uint64_t Generator::draw_value() {
  return rng_->chance(12) ? rng_->below(2) * 0x0101010101010101u : rng_->next();
}

void Generator::access(std::uint32_t thread, std::uint32_t phase, const Slot& slot, bool store) {
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
        .value = rng_->below(2)});
}

void Generator::barrier(std::uint32_t phase) {
  std::uint32_t id = rng_->below(kFirstThreads);
  for (std::uint32_t t = 0; t < out_->threads(); ++t)
    push(t, phase, {.kind = OpKind::kBarrier, .at = id});
}

// After the last barrier each node reads all that was ever used and still lives.
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
