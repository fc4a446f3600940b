#include "sim/generate.h"

#include <algorithm>

#include "sim/generate_signals.h"
#include "wire/region_policy.h"

namespace terrane::sim {
namespace {

constexpr std::uint32_t kExplicitHomes = 3;  // protocol::Homes

// Some of the programs without a limit get one that changes here and there. `rng` is a stream of
// its own, so that all other programs stay what they are.
void change_limits(base::Prng rng, Program& program) {
  if (program.setup.limit != ~0ull || !rng.chance(6)) return;
  std::uint32_t whole = 3 + rng.below(12);
  program.setup.limit = whole;
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    std::vector<Op> ops;
    std::uint32_t held = 0;
    for (const Op& op : program.ops[t]) {
      ops.push_back(op);
      if (op.kind == OpKind::kLock) ++held;
      if (op.kind == OpKind::kUnlock) --held;
      if (op.phase == 0 || held > 0 || !rng.chance(4)) continue;
      std::uint32_t limit = std::max<std::uint32_t>(1, whole >> rng.below(3));
      ops.push_back({.kind = OpKind::kLimit, .phase = op.phase, .at = limit});
    }
    program.ops[t] = std::move(ops);
  }
}

// The memory of some programs is a file's. Words that threads synchronise by begin with zeros, and
// so do those in which a race is to be found: a store of what is there already is none.
void map_files(base::Prng rng, Program& program) {
  if (program.setup.check_races || !rng.chance(25)) return;
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    for (const Op& op : program.ops[t])
      if (op.kind >= OpKind::kPromote) return;
  program.setup.first_byte = 1 + rng.below(255);
}

void change_memory(base::Prng& rng, Program& program) {
  change_limits(base::Prng(rng.next()), program);
  map_files(base::Prng(rng.next()), program);
}

// Two threads, of different nodes, store to a word of the planted region, or one loads it, with
// nothing but barriers before: nothing orders the two, neither for threads nor for their nodes.
void plant_race(base::Prng& rng, std::uint32_t phase, Program& program) {
  std::uint32_t threads = program.threads();
  if (phase > program.setup.block_bytes / kWordBytes || !rng.chance(70)) return;
  std::uint32_t one = rng.below(threads);
  std::uint32_t other = (one + 1 + rng.below(threads - 1)) % threads;
  bool locks = rng.chance(50);  // behind both stores: still nothing orders these
  bool loads = program.setup.check_accesses && rng.chance(50);  // one of them loads the word
  auto of_phase = static_cast<std::uint8_t>(phase);
  for (std::uint32_t t = 0; t < threads; ++t) {
    auto& ops = program.ops[t];
    if (t == one || t == other)
      ops.push_back({.kind = loads && t == one ? OpKind::kLoad : OpKind::kStore,
                     .size = kWordBytes,
                     .phase = of_phase,
                     .at = (phase - 1) * kWordBytes,
                     .value = (t + 1) * 0x0101010101010101u});
    bool enters = locks && (t == one || t == other);
    if (enters) ops.push_back({.kind = OpKind::kLock, .phase = of_phase, .at = kMaxLocks - 1});
    if (enters) ops.push_back({.kind = OpKind::kUnlock, .phase = of_phase, .at = kMaxLocks - 1});
    ops.push_back({.kind = OpKind::kSideBarrier, .phase = of_phase, .at = kFirstThreads});
  }
}

}  // namespace

bool counts(const Program& program) {
  std::uint32_t accesses = 0;
  bool lock = false;
  bool barrier = false;
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    for (const Op& op : program.ops[t]) {
      accesses +=
          op.kind == OpKind::kLoad || op.kind == OpKind::kStore || op.kind == OpKind::kAtomic;
      lock |= op.kind == OpKind::kLock;
      barrier |= op.kind == OpKind::kBarrier;
    }
  }
  return program.setup.nodes >= 4 && accesses >= 200 && lock && barrier;
}

void Generator::generate(base::Prng& rng, const Shape& shape, Program& out) {
  rng_ = &rng;
  out_ = &out;
  draw_setup(shape);
  draw_threads();
  draw_regions();
  if (shape.sc) choose_sequential();
  draw_slots();
  prologue();
  for (std::uint32_t phase = 1; phase <= phases_; ++phase) {
    side_barriers_ = rng.chance(75) ? 0 : 1 + rng.below(2);
    if (!out.setup.racy) assign(phase);
    region_changes(phase);
    for (std::uint32_t t = 0; t < out.threads(); ++t) phase_of_thread(t, phase);
    if (phase == phases_) fill_up(phase);
    barrier(phase);
    if (plants_) plant_race(rng, phase, out);
  }
  base::Prng aside = rng;  // a copy, so that a seed's schedule is the same for any number of hosts
  std::uint32_t nodes = out.setup.nodes;
  std::uint32_t drawn = aside.chance(50)   ? 1
                        : aside.chance(50) ? nodes
                                           : 2 + aside.below(nodes) / 2;
  out.setup.hosts = std::min(nodes, shape.hosts ? shape.hosts : drawn);
  out.setup.refresh_after = aside.chance(30) ? 255 : 1 + aside.below(2);
  out.setup.most_refreshes = aside.chance(50) ? 1 : 1 + aside.below(15);
  out.setup.unused_pushes = aside.chance(25) ? aside.below(3) : 64;
  bool by_fault = !out.setup.scan && out.setup.enters_protected;
  out.setup.entries_vanish = by_fault && shape.hosts != 1 && aside.chance(30);
  base::Prng removes = aside;  // a copy, for the same reason
  if (out.setup.scan && shape.hosts != 1) out.setup.entries_vanish = removes.next() % 100 >= 80;
  out.setup.migrate = aside.chance(60) && !out.setup.check_races;
  base::Prng in_memory = aside;  // a copy, so that histories without such barriers stay the same
  std::uint32_t last = phases_ + meetings(aside.next());
  reduce(aside);
  if (aside.chance(30)) out.setup.most_notices = 1 + aside.below(3);
  if (aside.chance(20)) out.setup.limit = 3 + aside.below(12);
  for (RegionPlan& region : out.regions) {
    region.propagation = aside.chance(60) ? 0 : 1 + aside.below(2);
    bool eager = aside.chance(25);
    if (!region.sc()) region.protocol = eager ? 1 : 0;
  }
  out.setup.in_memory_barriers = in_memory.next() % 100 >= 70;
  if (out.setup.in_memory_barriers) last += lulls(in_memory, last + 1);
  base::Prng after = aside;
  base::Prng evicts = aside;
  if (shape.sc && evicts.chance(changes_ ? 70 : 30))
    out.setup.sc_evicts_percent = 1 + evicts.below(20);
  out.setup.late_flushes = after.chance(30);
  if (after.chance(20)) out.setup.reads_ask = 1 + after.below(2);
  if (after.chance(20)) {
    out.setup.max_run = 1 + after.below(2);
    out.setup.runs_pipelined = 1 + after.below(3);
  }
  base::Prng again = after;
  if (again.chance(25)) repeat_values(again);
  if (again.chance(50)) out.setup.look_from = 2;
  if (again.chance(20)) last += objects(again, last + 1);
  base::Prng seldom(again.next());
  if (!out.setup.racy && seldom.chance(20)) last += duels(seldom, last + 1);
  if (!out.setup.racy && out.setup.in_memory_barriers && seldom.chance(50))
    last += side_meetings(seldom, last + 1);
  if (seldom.chance(25)) last += creations(seldom, last + 1);
  base::Prng teams(base::Prng(seldom).next()), signs(base::Prng(teams).next() ^ 0x5167);
  if (teams.chance(35)) last += team_regions(teams, last + 1);
  last += Signals{*this}.draw(signs, last + 1);
  epilogue(last + 1);
  change_memory(teams, out);
  if (out.setup.hosts > 1) form_clusters(seldom);
}

// In some programs, half of the regions with a named home are placed in a cluster instead.
void Generator::form_clusters(base::Prng rng) {
  if (!rng.chance(30)) return;
  Setup& setup = out_->setup;
  setup.clusters = std::min(setup.hosts, 2 + rng.below(4) / 3);
  for (RegionPlan& region : out_->regions) {
    if (region.homes != kExplicitHomes || !rng.chance(50)) continue;
    region.homes = static_cast<std::uint32_t>(wire::Homes::kCluster);
    region.home = rng.below(setup.clusters);
  }
}

void Generator::draw_setup(const Shape& shape) {
  accesses_ = 0;
  Setup& setup = out_->setup;
  setup = Setup{};
  setup.nodes = shape.nodes ? shape.nodes : 4 + rng_->below(3);
  setup.block_bytes = rng_->chance(70) ? 64 : 128;
  setup.barrier_arity = 2 + rng_->below(3);
  if (rng_->chance(20)) setup.limit = 3 + 3 * rng_->below(4);
  if (rng_->chance(20)) setup.max_log_ranges = 1 + rng_->below(8);
  if (rng_->chance(12)) setup.populate_fails_percent = 5 + rng_->below(50);
  bool scan = rng_->chance(50);
  bool racy = rng_->chance(30);
  setup.scan = shape.detection == Detection::kMix ? scan : shape.detection == Detection::kScan;
  setup.enters_protected = rng_->chance(67) || setup.scan;
  setup.racy = shape.racy == Mix::kMix ? racy : shape.racy == Mix::kOnly;
  setup.check_races = shape.check_races;
  setup.check_accesses = shape.check_races && shape.check_accesses;
  phases_ = 2 + rng_->below(4);
  locks_ = 1 + rng_->below(4);
}

void Generator::draw_threads() {
  out_->thread_node.clear();
  std::uint32_t most = out_->setup.nodes <= 8 && rng_->chance(20) ? 3 : 2;
  plants_ = out_->setup.check_races && out_->setup.racy && rng_->chance(60);
  if (plants_) most = 1;
  for (std::uint32_t node = 0; node < out_->setup.nodes; ++node) {
    std::uint32_t here = 1 + rng_->below(most);
    for (std::uint32_t i = 0; i < here; ++i) out_->thread_node.push_back(node);
  }
  std::uint32_t threads = out_->threads();
  if (out_->ops.size() < threads) out_->ops.resize(threads);
  for (auto& ops : out_->ops) ops.clear();
  budget_ = kAccesses / (threads * phases_) + 1;
}

// Sometimes the first region is one that no thread uses. Then the blocks in use lie on both sides
// of a boundary between two directory nodes.
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
  if (plants_) {
    add(1, {1, ~0u});
    regions.back().planted = true;
    first_used_ = 1;
  } else if (rng_->chance(50)) {
    add(58 + rng_->below(6), {0, 0});
    first_used_ = 1;
  }
  std::uint32_t count = 1 + rng_->below(3);
  std::uint32_t most = 4;
  if (rng_->chance(30)) count = most = 1;  // one block, which all threads use
  for (std::uint32_t i = 0; i < count; ++i) add(1 + rng_->below(most), {1, ~0u});
  changes_ = phases_ >= 3 && rng_->chance(25);
  if (changes_) {
    change_phase_ = 2 + rng_->below(phases_ - 2);  // freed at its start, reused after it
    freed_ = static_cast<std::uint32_t>(regions.size()) - 1;
    reused_ = freed_ + 1;
    lives_[freed_].to = change_phase_;
    add(rng_->chance(70) ? regions[freed_].blocks : 1 + rng_->below(4), {change_phase_ + 1, ~0u});
    if (rng_->chance(70)) {  // no other space: the allocation waits for the freed blocks
      std::uint32_t total = 0;
      for (std::uint32_t r = 0; r < reused_; ++r) total += regions[r].blocks;
      regions[reused_].blocks = std::min(regions[reused_].blocks, regions[freed_].blocks);
      out_->setup.space_blocks = total;
    }
  }
  collective_ = rng_->chance(50);
}

// Makes most regions sequentially consistent. A region that reuses the blocks of another is of its
// kind.
void Generator::choose_sequential() {
  auto& regions = out_->regions;
  Setup& setup = out_->setup;
  std::uint32_t blocks = 0;
  for (std::uint32_t r = first_used_; r < regions.size(); ++r) {
    regions[r].protocol = rng_->chance(75) ? 2 : 0;
    if (changes_ && r == reused_) regions[r].protocol = regions[freed_].protocol;
    if (regions[r].sc() && !(changes_ && r == reused_)) blocks += regions[r].blocks;
  }
  setup.sc_named_readers = 1 + rng_->below(4);
  setup.sc_blocks = 64;
  if (setup.space_blocks == Setup{}.space_blocks) return;
  setup.sc_blocks = blocks;  // no other space, here too
  setup.space_blocks -= blocks;
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
      // Neighbours within a block, so that there is false sharing.
      std::uint32_t word = rng_->below(regions[r].blocks) * block_words + rng_->below(3);
      if (rng_->chance(10)) word += block_words - 3;
      std::uint32_t name = r << 24 | word * kWordBytes;
      if (std::find(words_.begin(), words_.end(), name) != words_.end()) continue;
      words_.push_back(name);
      split_word(r, word * kWordBytes, static_cast<Pattern>(rng_->below(6)));
    }
  }
}

// Splits a word into aligned pieces of 1, 2, 4 or 8 bytes. Each piece is a slot of its own.
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

// Draws the owner of a slot. In some regions only threads of the home write, as in programs that
// place their data.
std::uint32_t Generator::draw_owner() {
  std::uint32_t thread = rng_->below(out_->threads());
  if (by_home_)
    while (out_->thread_node[thread] != home_) thread = (thread + 1) % out_->threads();
  return thread;
}

// Decides which threads may do what with each slot in this phase.
void Generator::assign(std::uint32_t phase) {
  for (Slots& slots : owned_) slots.clear();
  for (Slots& slots : locked_) slots.clear();
  for (Slots& slots : relayed_) slots.clear();
  shared_.clear();
  contended_.clear();
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
    if (slot.size >= 4 && rng_->chance(8)) {
      contended_.push_back(static_cast<std::uint16_t>(i));
    } else {
      relay_or_push(to, static_cast<std::uint16_t>(i));
    }
  }
}

// In a phase with side barriers, some slots of a node's first thread are relayed: the owner writes
// them before the barrier of the first threads, and others read them after it. These are the other
// first threads, or the last threads after their own barrier if one thread enters both barriers.
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

}  // namespace terrane::sim
