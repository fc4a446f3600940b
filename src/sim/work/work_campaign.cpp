#include "sim/campaign_worker.h"
#include "sim/work/work_history.h"

namespace terrane::sim {
namespace {

using chunks::WorkMark;
using chunks::WorkMutant;

// The names as in the sources, without the k.
constexpr std::string_view kMarks[] = {"PlacedAtFirst",
                                       "PlacementAwaited",
                                       "WriterRegistered",
                                       "WriteWaits",
                                       "WriteBusy",
                                       "WriteTimedOut",
                                       "WriteFindsNoTaker",
                                       "WriteFindsEnd",
                                       "GivenUp",
                                       "PublishAfterEnd",
                                       "PublishDepends",
                                       "PutOutOfTurn",
                                       "PutTwice",
                                       "Given",
                                       "GivenAgain",

                                       "GiveAwaitsCredit",
                                       "GiveAfterUnsubscribe",
                                       "TakeAwaits",
                                       "TakeBusy",
                                       "TakeTimedOut",
                                       "DoneAwaitsResult",
                                       "ReleasedBeforeDone",
                                       "DoneBatched",
                                       "DoneSent",
                                       "SettledBatched",
                                       "SettledSent",
                                       "Unsubscribed",
                                       "UnsubscribedKeeps",

                                       "SubscribeAfterEnd",
                                       "Ended",
                                       "StoppedByEnd",
                                       "Drained",
                                       "SubscriberDied",
                                       "LastSubscriberDied",
                                       "TakersAgain",
                                       "WriterDied",
                                       "HomeDied",
                                       "HomeDiedWithResults",
                                       "NameHomeDied"};
constexpr std::string_view kMutants[] = {
    "None",     "ForgetDead",      "DoneBeforeResult",  "EndBeforeDone", "EndUnasked",
    "TagTwice", "SecondDoneEarly", "GiveWithoutCredit", "SettledLate",   "DeathUntold"};
static_assert(std::size(kMarks) == static_cast<std::size_t>(WorkMark::kCount));
static_assert(std::size(kMutants) == static_cast<std::size_t>(WorkMutant::kCount));

// Sets the planted fault and counts the marks of the calling thread, as long as it exists.
class ChosenMutant {
 public:
  explicit ChosenMutant(std::string_view name) {
    chunks::work_instrumentation = {};
    for (std::size_t m = 0; m < std::size(kMutants); ++m)
      if (kMutants[m] == name) chunks::work_instrumentation.mutant = static_cast<WorkMutant>(m);
  }
  ~ChosenMutant() { chunks::work_instrumentation.mutant = WorkMutant::kNone; }
  ChosenMutant(const ChosenMutant&) = delete;
};

class WorkWorker : public CampaignWorker {
 public:
  explicit WorkWorker(const CampaignOptions& options)
      : options_(options), mutant_(options.mutant) {}

  std::optional<std::string> play(std::uint64_t seed, CampaignReport& mine) override {
    WorkOutcome outcome =
        history_.run(options_.shape.nodes, seed, seed % options_.careful_every == 0, nullptr);
    ++mine.histories;
    mine.counted += outcome.deaths > 0;
    mine.steps += outcome.steps;
    mine.messages += outcome.messages;
    mine.accesses += outcome.versions;
    mine.hash += outcome.hash * (2 * seed + 1);
    if (!outcome.failed()) return std::nullopt;
    return reason_of(outcome.violation);
  }

  std::vector<BranchCount> branches() const override {
    std::vector<BranchCount> counts;
    for (std::size_t m = 0; m < std::size(kMarks); ++m)
      counts.push_back({kMarks[m], chunks::work_instrumentation.marks[m]});
    return counts;
  }

 private:
  const CampaignOptions& options_;
  ChosenMutant mutant_;
  WorkHistory history_;
};

}  // namespace

std::unique_ptr<CampaignWorker> make_work_worker(const CampaignOptions& options) {
  return std::make_unique<WorkWorker>(options);
}

Replay replay_work(const CampaignOptions& options, std::uint64_t seed) {
  ChosenMutant mutant(options.mutant);
  WorkHistory history;
  Trace trace;
  WorkOutcome outcome =
      history.run(options.shape.nodes, seed, seed % options.careful_every == 0, &trace);
  return {outcome.failed(), reason_of(outcome.violation), outcome.hash, trace.lines()};
}

std::vector<std::string_view> work_mutant_names() {
  return {std::begin(kMutants) + 1, std::end(kMutants)};
}

}  // namespace terrane::sim
