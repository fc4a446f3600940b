#include "sim/campaign_worker.h"
#include "sim/routing/routing_history.h"

namespace terrane::sim {
namespace {

using routing::Mark;
using routing::Mutant;

// The names as in the sources, without the k.
constexpr std::string_view kMarks[] = {
    "MessageSplit",     "WindowFull",   "WayLost",        "WayBetter",       "AgainHeard",
    "TakenAheadOfSent", "TakenStale",   "TakenToldAgain", "PeerUnreachable", "PeerBack",
    "PeerLost",         "PeerGone",     "MessageWhole",   "MessageJoined",   "DuplicateDropped",
    "GapDropped",       "ByeTaken",     "RouteChanged",   "RouteLost",       "AgainPassedOn",
    "LinksOld",         "LinksRaised",  "NoWay",          "NotBack",         "QueuedTwice",
    "QueuedStale",      "QueuedBefore", "QueueRerouted",  "TakenMerged",     "PortClosedFull"};
constexpr std::string_view kMutants[] = {
    "None",        "TakenNotRepeated", "DuplicateDelivered", "RewindForgotten", "TwoPaths",
    "GapAccepted", "AgainDropped",     "RouteKeptQuiet",     "NeighbourBlocks", "QueuesDuplicates",
    "LinksKept",   "OldLinksAccepted", "RestartForgotten"};
static_assert(std::size(kMarks) == static_cast<std::size_t>(Mark::kCount));
static_assert(std::size(kMutants) == static_cast<std::size_t>(Mutant::kCount));

// Sets the planted fault and counts the marks of the calling thread, as long as it exists.
class ChosenMutant {
 public:
  explicit ChosenMutant(std::string_view name) {
    routing::instrumentation = {};
    for (std::size_t m = 0; m < std::size(kMutants); ++m)
      if (kMutants[m] == name) routing::instrumentation.mutant = static_cast<Mutant>(m);
  }
  ~ChosenMutant() { routing::instrumentation.mutant = Mutant::kNone; }
  ChosenMutant(const ChosenMutant&) = delete;
};

class RoutingWorker : public CampaignWorker {
 public:
  explicit RoutingWorker(const CampaignOptions& options) : mutant_(options.mutant) {}

  std::optional<std::string> play(std::uint64_t seed, CampaignReport& mine) override {
    RoutingOutcome outcome = history_.run(seed, nullptr);
    ++mine.histories;
    mine.counted += outcome.breaks > 0;
    mine.steps += outcome.steps;
    mine.messages += outcome.frames;
    mine.accesses += outcome.messages;
    mine.hash += outcome.hash * (2 * seed + 1);
    if (!outcome.failed()) return std::nullopt;
    return reason_of(outcome.violation);
  }

  std::vector<BranchCount> branches() const override {
    std::vector<BranchCount> counts;
    for (std::size_t m = 0; m < std::size(kMarks); ++m)
      counts.push_back({kMarks[m], routing::instrumentation.marks[m]});
    return counts;
  }

 private:
  ChosenMutant mutant_;
  RoutingHistory history_;
};

}  // namespace

std::unique_ptr<CampaignWorker> make_routing_worker(const CampaignOptions& options) {
  return std::make_unique<RoutingWorker>(options);
}

Replay replay_routing(const CampaignOptions& options, std::uint64_t seed) {
  ChosenMutant mutant(options.mutant);
  RoutingHistory history;
  Trace trace;
  RoutingOutcome outcome = history.run(seed, &trace);
  return {outcome.failed(), reason_of(outcome.violation), outcome.hash, trace.lines()};
}

std::vector<std::string_view> routing_mutant_names() {
  return {std::begin(kMutants) + 1, std::end(kMutants)};
}

}  // namespace terrane::sim
