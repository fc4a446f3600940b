#include "sim/campaign.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "sim/campaign_worker.h"
#include "sim/names.h"
#include "sim/player.h"

namespace terrane::sim {
namespace {

constexpr std::uint64_t kNoSeed = ~0ull;
constexpr std::uint64_t kChunk = 64;  // histories that a worker takes at once

// Plays the histories of pages.
class HlrcWorker : public CampaignWorker {
 public:
  explicit HlrcWorker(const CampaignOptions& options) : options_(options) {
    protocol::instrumentation = {};
    protocol::sc::instrumentation = {};
    choose_mutant(options.mutant);
  }
  ~HlrcWorker() override { choose_mutant("None"); }

  std::optional<std::string> play(std::uint64_t seed, CampaignReport& mine) override {
    bool careful = seed % options_.careful_every == 0;
    Outcome outcome = player_.play(shape_of(options_), seed, careful, nullptr);
    ++mine.histories;
    mine.counted += counts(player_.program());
    mine.steps += outcome.steps;
    mine.messages += outcome.messages;
    mine.accesses += outcome.accesses;
    mine.faults += outcome.faults;
    mine.hash += outcome.hash * (2 * seed + 1);
    if (!outcome.failed()) return std::nullopt;
    return reason_of(outcome.violation);
  }

  std::vector<BranchCount> branches() const override {
    if (options_.protocol == Protocol::kSc)
      return counts_of<protocol::sc::Mark>(protocol::sc::instrumentation);
    return counts_of<protocol::Mark>(protocol::instrumentation);
  }

 private:
  template <typename Mark, typename Instrumentation>
  static std::vector<BranchCount> counts_of(const Instrumentation& taken) {
    std::vector<BranchCount> counts;
    for (std::size_t m = 0; m < static_cast<std::size_t>(Mark::kCount); ++m)
      counts.push_back({name_of(static_cast<Mark>(m)), taken.marks[m]});
    return counts;
  }

  const CampaignOptions& options_;
  Player player_;
};

std::unique_ptr<CampaignWorker> make_worker(const CampaignOptions& options) {
  if (options.protocol == Protocol::kMesiChunk) return make_chunk_worker(options);
  if (options.protocol == Protocol::kWorkStream) return make_work_worker(options);
  if (options.protocol == Protocol::kRouting) return make_routing_worker(options);
  return std::make_unique<HlrcWorker>(options);
}

// What the workers share: which seeds are still to run, and what all workers have found.
class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_(options) {}

  CampaignReport run() {
    std::vector<std::thread> others;
    for (std::uint32_t j = 1; j < options_.jobs; ++j) others.emplace_back([this] { work(); });
    work();
    for (std::thread& other : others) other.join();
    if (failed_.load() != kNoSeed) report_.failed_seed = failed_.load();
    return std::move(report_);
  }

 private:
  void work() {
    std::unique_ptr<CampaignWorker> worker = make_worker(options_);
    CampaignReport mine;
    for (;;) {
      std::uint64_t first = next_.fetch_add(kChunk);
      std::uint64_t end = std::min(first + kChunk, options_.histories);
      // Seeds below one that failed are still run, so that the lowest failing seed is always found.
      for (std::uint64_t i = first; i < end && options_.seed + i < failed_.load(); ++i)
        play(*worker, options_.seed + i, mine);
      if (end >= options_.histories || failed_.load() != kNoSeed) break;
    }
    add(mine, worker->branches());
  }

  void play(CampaignWorker& worker, std::uint64_t seed, CampaignReport& mine) {
    std::optional<std::string> failure = worker.play(seed, mine);
    if (!failure) return;
    std::scoped_lock guard(mutex_);
    if (seed >= failed_.load()) return;
    failed_.store(seed);
    report_.reason = std::move(*failure);
  }

  void add(const CampaignReport& mine, const std::vector<BranchCount>& branches) {
    std::scoped_lock guard(mutex_);
    report_.histories += mine.histories;
    report_.counted += mine.counted;
    report_.steps += mine.steps;
    report_.messages += mine.messages;
    report_.accesses += mine.accesses;
    report_.faults += mine.faults;
    report_.hash += mine.hash;
    if (report_.branches.empty()) {
      report_.branches = branches;
      return;
    }
    for (std::size_t b = 0; b < branches.size(); ++b)
      report_.branches[b].times += branches[b].times;
  }

  const CampaignOptions& options_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> failed_{kNoSeed};
  std::mutex mutex_;
  CampaignReport report_;
};

}  // namespace

CampaignReport run_campaign(const CampaignOptions& options) { return Campaign(options).run(); }

Replay replay(const CampaignOptions& options, std::uint64_t seed) {
  if (options.protocol == Protocol::kMesiChunk) return replay_chunks(options, seed);
  if (options.protocol == Protocol::kWorkStream) return replay_work(options, seed);
  if (options.protocol == Protocol::kRouting) return replay_routing(options, seed);
  choose_mutant(options.mutant);
  Player player;
  Trace trace;
  Outcome outcome = player.play(shape_of(options), seed, seed % options.careful_every == 0, &trace);
  choose_mutant("None");
  return {outcome.failed(), reason_of(outcome.violation), outcome.hash, trace.lines()};
}

base::Result<> set_prediction(Shape& shape, std::string_view text) {
  shape.random_predictions = text == "random" ? Mix::kOnly : Mix::kNever;
  if (text == "random") return {};
  auto prediction = protocol::parse_prediction(text);
  if (!prediction) return base::error("{}; or random", prediction.error().message);
  shape.prediction = prediction.value();
  return {};
}

base::Result<> check_prediction(std::string_view text) {
  auto prediction = protocol::parse_prediction(text);
  return prediction ? base::Result<>() : prediction.error();
}

std::string predictor_of(const CampaignOptions& options, std::uint64_t seed) {
  Player player;
  player.draw(shape_of(options), seed);
  return player.program().setup.predicts_at_random ? "random predictions" : "the chosen predictor";
}

Shape shape_of(const CampaignOptions& options) {
  Shape shape = options.shape;
  shape.sc = options.protocol == Protocol::kSc;
  return shape;
}

void choose_mutant(std::string_view name) {
  protocol::instrumentation.mutant = mutant_named(name).value_or(protocol::Mutant::kNone);
  protocol::sc::instrumentation.mutant =
      sc_mutant_named(name).value_or(protocol::sc::Mutant::kNone);
}

std::vector<std::string_view> mutant_names(Protocol protocol) {
  if (protocol == Protocol::kMesiChunk) return chunk_mutant_names();
  if (protocol == Protocol::kWorkStream) return work_mutant_names();
  if (protocol == Protocol::kRouting) return routing_mutant_names();
  std::vector<std::string_view> names;
  for (int m = 1; protocol == Protocol::kSc && m < static_cast<int>(protocol::sc::Mutant::kCount);
       ++m)
    names.push_back(name_of(static_cast<protocol::sc::Mutant>(m)));
  if (protocol == Protocol::kSc) return names;
  for (int m = 1; m < static_cast<int>(protocol::Mutant::kCount); ++m)
    names.push_back(name_of(static_cast<protocol::Mutant>(m)));
  return names;
}

}  // namespace terrane::sim
