#include "sim/shrink.h"

#include <algorithm>

#include "sim/campaign_worker.h"
#include "sim/names.h"
#include "sim/script/settings.h"
#include "wire/region_policy.h"

namespace terrane::sim {
namespace {

constexpr std::uint64_t kMaxTries = 60'000;
constexpr std::uint64_t kSchedules = 40;  // for each candidate

bool is_barrier(const Op& op) { return op.kind == OpKind::kBarrier; }
bool is_count(const Op& op) {
  return (op.kind >= OpKind::kAdd && op.kind <= OpKind::kSignal) || op.kind == OpKind::kPrepare ||
         op.kind == OpKind::kArrive || op.kind >= OpKind::kPromote;
}
bool is_meeting(const Op& op) {
  bool at_side = op.kind == OpKind::kSideBarrier || op.kind == OpKind::kGather;
  return is_barrier(op) || at_side || is_count(op);
}

// Whether threads wait for what others do by counts. Then no node can be removed.
bool has_counts(const Program& program) {
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    if (std::any_of(program.ops[t].begin(), program.ops[t].end(),
                    [](const Op& op) { return is_count(op); }))
      return true;
  return false;
}

// Whether operations [from, to) can be removed: no thread waits in them for others, and they
// release the locks that they take.
bool can_go(const std::vector<Op>& ops, std::size_t from, std::size_t to) {
  int held[kMaxLocks] = {};
  for (std::size_t i = from; i < to; ++i) {
    if (is_meeting(ops[i])) return false;
    if (ops[i].kind == OpKind::kLock) ++held[ops[i].at];
    if (ops[i].kind == OpKind::kUnlock && --held[ops[i].at] < 0) return false;
  }
  return std::all_of(std::begin(held), std::end(held), [](int h) { return h == 0; });
}

void erase_threads(Program& program, std::uint32_t node) {
  for (std::uint32_t t = program.threads(); t-- > 0;) {
    if (program.thread_node[t] != node) continue;
    program.thread_node.erase(program.thread_node.begin() + t);
    program.ops.erase(program.ops.begin() + t);
  }
}

// Whether a thread enters both side barriers, and so carries order from one to the other.
bool relays(const Program& program) {
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    std::uint32_t met = 0;  // a bit for each barrier
    for (const Op& op : program.ops[t])
      if (op.kind == OpKind::kSideBarrier) met |= 1u << op.at;
    if ((met & (met - 1)) != 0) return true;
  }
  return false;
}

std::uint32_t last_phase(const Program& program) {
  std::uint32_t last = 0;
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    for (const Op& op : program.ops[t]) last = std::max<std::uint32_t>(last, op.phase);
  return last;
}

}  // namespace

void Shrinker::run() {
  bool smaller = true;
  while (smaller && tried_ < kMaxTries) {
    smaller = drop_nodes();
    smaller |= drop_phases();
    smaller |= drop_threads();
    smaller |= drop_operations();
  }
}

bool Shrinker::keep_if_failing() {
  for (std::uint64_t i = 0; i < kSchedules && tried_ < kMaxTries; ++i) {
    ++tried_;
    std::uint64_t seed = i == 0 ? schedule_seed_ : schedule_seed_ * 31 + i;
    Outcome outcome = history_.run(candidate_, seed, true, nullptr);
    if (outcome.violation.fault != fault_) continue;
    schedule_seed_ = seed;
    best_ = candidate_;
    return true;
  }
  return false;
}

bool Shrinker::drop_nodes() {
  bool any = false;
  if (has_counts(best_)) return false;
  for (std::uint32_t n = best_.setup.nodes; n-- > 0 && best_.setup.nodes > 2;) {
    candidate_ = best_;
    erase_threads(candidate_, n);
    for (std::uint32_t& node : candidate_.thread_node) node -= node > n;
    --candidate_.setup.nodes;
    for (RegionPlan& region : candidate_.regions) region.home %= candidate_.setup.nodes;
    if (best_.setup.racy || relays(best_) == relays(candidate_)) any |= keep_if_failing();
  }
  return any;
}

// A phase is removed with its barrier, so that the phases before and after it are still separated.
bool Shrinker::drop_phases() {
  bool any = false;
  for (std::uint32_t phase = last_phase(best_) + 1; phase-- > 1;) {
    candidate_ = best_;
    for (auto& ops : candidate_.ops)
      std::erase_if(ops, [phase](const Op& op) { return op.phase == phase; });
    any |= keep_if_failing();
    if (!best_.setup.racy) continue;  // without its side barriers the program would have races
    candidate_ = best_;
    std::size_t gone = 0;
    for (auto& ops : candidate_.ops)
      gone += std::erase_if(ops, [phase](const Op& op) {
        bool at_side =
            op.kind == OpKind::kSideBarrier || (op.kind == OpKind::kGather && op.size == 1);
        return op.phase == phase && at_side;
      });
    if (gone > 0) any |= keep_if_failing();
  }
  return any;
}

// A thread is removed if it only enters barriers, and its node has another one. Else everything but
// its waits for others is removed.
bool Shrinker::drop_threads() {
  bool any = false;
  for (std::uint32_t t = best_.threads(); t-- > 0;) {
    candidate_ = best_;
    if (std::erase_if(candidate_.ops[t], [](const Op& op) { return !is_meeting(op); }) > 0)
      any |= keep_if_failing();
    auto node = best_.thread_node[t];
    bool alone = std::count(best_.thread_node.begin(), best_.thread_node.end(), node) == 1;
    bool barriers_only = std::all_of(best_.ops[t].begin(), best_.ops[t].end(), is_barrier);
    if (alone || !barriers_only) continue;
    candidate_ = best_;
    candidate_.thread_node.erase(candidate_.thread_node.begin() + t);
    candidate_.ops.erase(candidate_.ops.begin() + t);
    any |= keep_if_failing();
  }
  return any;
}

bool Shrinker::drop_operations() {
  bool any = false;
  for (std::size_t length : {32, 16, 8, 4, 3, 2, 1})
    for (std::uint32_t t = 0; t < best_.threads(); ++t) any |= drop_runs(t, length);
  return any;
}

bool Shrinker::drop_runs(std::uint32_t thread, std::size_t length) {
  bool any = false;
  for (std::size_t at = best_.ops[thread].size(); at-- > 0 && tried_ < kMaxTries;) {
    const std::vector<Op>& ops = best_.ops[thread];
    if (at + length > ops.size() || !can_go(ops, at, at + length)) continue;
    candidate_ = best_;
    auto& fewer = candidate_.ops[thread];
    auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
    fewer.erase(from, from + static_cast<std::ptrdiff_t>(length));
    any |= keep_if_failing();
  }
  return any;
}

std::string describe(const Program& program) {
  const Setup& setup = program.setup;
  std::string text = fmt::format("nodes {}\n", setup.nodes);
  for (const Setting& setting : settings())
    if (setting.name != "nodes" && !setting.is_default_in(setup))
      text += fmt::format("{} {}\n", setting.name, setting.value_in(setup));
  static constexpr std::string_view kHomes[] = {"homes first touch", "homes block", "homes cyclic"};
  static constexpr std::string_view kProtocols[] = {"", ", eager", ", sequential"};
  static constexpr std::string_view kPropagation[] = {"", ", invalidate", ", update"};
  for (std::size_t r = 0; r < program.regions.size(); ++r) {
    const RegionPlan& region = program.regions[r];
    bool named = region.homes >= std::size(kHomes);
    bool cluster = region.homes == static_cast<std::uint32_t>(wire::Homes::kCluster);
    std::string homes = !named    ? std::string(kHomes[region.homes])
                        : cluster ? fmt::format("homes in cluster {}", region.home)
                                  : fmt::format("home node {}", region.home);
    text += fmt::format("region {}: {} block{}, {}{}{}\n", name_of(program, r), region.blocks,
                        region.blocks == 1 ? "" : "s", homes, kProtocols[region.protocol],
                        kPropagation[region.propagation]);
  }
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    text += fmt::format("node {} thread {}:\n", program.thread_node[t], t);
    for (const Op& op : program.ops[t]) text += fmt::format("  {}\n", describe(program, op));
  }
  return text;
}

Shrunk shrink(const CampaignOptions& options, std::uint64_t seed) {
  if (options.protocol == Protocol::kMesiChunk) return shrink_chunks(options, seed);
  if (options.protocol == Protocol::kWorkStream || options.protocol == Protocol::kRouting)
    return {};  // these programs are short
  choose_mutant(options.mutant);
  Player player;
  Outcome first = player.play(shape_of(options), seed, seed % options.careful_every == 0, nullptr);
  Program program = player.program();
  program.ops.resize(program.threads());
  Shrinker shrinker(player.history(), program, player.schedule_seed(), first.violation.fault);
  if (first.failed()) shrinker.run();
  Trace trace;
  Outcome outcome =
      player.history().run(shrinker.program(), shrinker.schedule_seed(), true, &trace);
  choose_mutant("None");
  return {describe(shrinker.program()), reason_of(outcome.violation), trace.lines(),
          shrinker.tried()};
}

}  // namespace terrane::sim
