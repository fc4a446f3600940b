#include <algorithm>

#include "sim/campaign_worker.h"
#include "sim/chunks/chunk_history.h"
#include "sim/chunks/chunk_names.h"
#include "sim/names.h"

namespace terrane::sim {
namespace {

constexpr std::uint64_t kMaxTries = 20'000;
constexpr std::uint64_t kSchedules = 20;  // for each smaller program

// Sets the planted fault and counts the marks of the calling thread, as long as it exists.
class ChosenMutant {
 public:
  explicit ChosenMutant(std::string_view name) {
    chunks::instrumentation = {};
    chunks::instrumentation.mutant = chunk_mutant_named(name).value_or(chunks::Mutant::kNone);
  }
  ~ChosenMutant() { chunks::instrumentation.mutant = chunks::Mutant::kNone; }
  ChosenMutant(const ChosenMutant&) = delete;
};

// Draws the program of a seed and runs it.
class ChunkPlayer {
 public:
  ChunkOutcome play(const CampaignOptions& options, std::uint64_t seed, Trace* trace) {
    base::Prng rng(seed);
    generate(rng, options.shape.nodes, program);
    schedule_seed = rng.next();
    return history.run(program, schedule_seed, seed % options.careful_every == 0, trace);
  }

  ChunkProgram program;
  std::uint64_t schedule_seed = 0;
  ChunkHistory history;
};

class ChunkWorker : public CampaignWorker {
 public:
  explicit ChunkWorker(const CampaignOptions& options)
      : options_(options), mutant_(options.mutant) {}

  std::optional<std::string> play(std::uint64_t seed, CampaignReport& mine) override {
    ChunkOutcome outcome = player_.play(options_, seed, nullptr);
    ++mine.histories;
    mine.counted += outcome.scopes >= 20;
    mine.steps += outcome.steps;
    mine.messages += outcome.messages;
    mine.accesses += outcome.scopes;
    mine.hash += outcome.hash * (2 * seed + 1);
    if (!outcome.failed()) return std::nullopt;
    return reason_of(outcome.violation);
  }

  std::vector<BranchCount> branches() const override {
    std::vector<BranchCount> counts;
    for (std::size_t m = 0; m < static_cast<std::size_t>(chunks::Mark::kCount); ++m)
      counts.push_back({name_of(static_cast<chunks::Mark>(m)), chunks::instrumentation.marks[m]});
    return counts;
  }

 private:
  const CampaignOptions& options_;
  ChosenMutant mutant_;
  ChunkPlayer player_;
};

// Removes one operation after the other, as long as some schedule makes the rest fail in the same
// way.
class ChunkShrinker {
 public:
  ChunkShrinker(ChunkPlayer& player, Fault fault) : player_(player), fault_(fault) {}

  void run() {
    bool smaller = true;
    while (smaller) {
      smaller = false;
      for (std::uint32_t t = 0; t < player_.program.threads(); ++t)
        for (std::size_t length : {64u, 16u, 4u, 1u}) smaller |= drop_runs(t, length);
    }
  }
  std::uint64_t tried() const { return tried_; }

 private:
  // Scopes are removed as a whole. Create and find stay, because a thread that knows no chunk
  // cannot continue.
  static bool may_go(const std::vector<ChunkOp>& ops, std::size_t from, std::size_t to) {
    int open[kMaxChunks] = {};
    for (std::size_t i = from; i < to; ++i) {
      if (ops[i].kind == ChunkOpKind::kCreate || ops[i].kind == ChunkOpKind::kFind) return false;
      if (ops[i].kind == ChunkOpKind::kTakeAll) return false;
      if (ops[i].kind == ChunkOpKind::kOpen) ++open[ops[i].chunk];
      if (ops[i].kind == ChunkOpKind::kClose && --open[ops[i].chunk] < 0) return false;
    }
    return std::all_of(std::begin(open), std::end(open), [](int n) { return n == 0; });
  }

  bool drop_runs(std::uint32_t t, std::size_t length) {
    bool any = false;
    for (std::size_t from = 0; from < player_.program.ops[t].size() && tried_ < kMaxTries;) {
      const std::vector<ChunkOp>& ops = player_.program.ops[t];
      std::size_t to = std::min(from + length, ops.size());
      if (!may_go(ops, from, to) && length == 1 && ops[from].kind == ChunkOpKind::kOpen)
        to = end_of(ops, from);
      if (may_go(ops, from, to) && fails_without(t, from, to)) {
        any = true;
      } else {
        ++from;
      }
    }
    return any;
  }

  static std::size_t end_of(const std::vector<ChunkOp>& ops, std::size_t from) {
    std::size_t to = from + 1;
    while (to < ops.size() &&
           !(ops[to].kind == ChunkOpKind::kClose && ops[to].chunk == ops[from].chunk))
      ++to;
    return std::min(to + 1, ops.size());
  }

  bool fails_without(std::uint32_t t, std::size_t from, std::size_t to) {
    std::vector<ChunkOp> kept = player_.program.ops[t];
    std::vector<ChunkOp>& ops = player_.program.ops[t];
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(from),
              ops.begin() + static_cast<std::ptrdiff_t>(to));
    for (std::uint64_t i = 0; i < kSchedules && tried_ < kMaxTries; ++i) {
      ++tried_;
      std::uint64_t seed = i == 0 ? player_.schedule_seed : player_.schedule_seed * 31 + i;
      if (player_.history.run(player_.program, seed, true, nullptr).violation.fault != fault_)
        continue;
      player_.schedule_seed = seed;
      return true;
    }
    ops = std::move(kept);
    return false;
  }

  ChunkPlayer& player_;
  Fault fault_;
  std::uint64_t tried_ = 0;
};

}  // namespace

std::unique_ptr<CampaignWorker> make_chunk_worker(const CampaignOptions& options) {
  return std::make_unique<ChunkWorker>(options);
}

Replay replay_chunks(const CampaignOptions& options, std::uint64_t seed) {
  ChosenMutant mutant(options.mutant);
  ChunkPlayer player;
  Trace trace;
  ChunkOutcome outcome = player.play(options, seed, &trace);
  return {outcome.failed(), reason_of(outcome.violation), outcome.hash, trace.lines()};
}

Shrunk shrink_chunks(const CampaignOptions& options, std::uint64_t seed) {
  ChosenMutant mutant(options.mutant);
  ChunkPlayer player;
  ChunkOutcome outcome = player.play(options, seed, nullptr);
  ChunkShrinker shrinker(player, outcome.violation.fault);
  shrinker.run();
  Trace trace;
  outcome = player.history.run(player.program, player.schedule_seed, true, &trace);
  return {describe(player.program), reason_of(outcome.violation), trace.lines(), shrinker.tried()};
}

std::string drawn_chunks(std::uint64_t seeds) {
  ChunkProgram program;
  std::string drawn;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    base::Prng rng(seed);
    generate(rng, 0, program);
    drawn += fmt::format("{} {}", describe(program), rng.next());
  }
  return drawn;
}

std::vector<std::string_view> chunk_mutant_names() {
  std::vector<std::string_view> names;
  for (int m = 1; m < static_cast<int>(chunks::Mutant::kCount); ++m)
    names.push_back(name_of(static_cast<chunks::Mutant>(m)));
  return names;
}

}  // namespace terrane::sim
