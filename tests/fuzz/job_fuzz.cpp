// The hub's decisions about a job, when the engines of hosts report what they like.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "tools/launch/codec.h"
#include "tools/launch/hub/job.h"

namespace terrane::fuzz {
namespace {

using namespace tools;

constexpr std::uint32_t kHosts = 3;

// Checks what the job tells: hosts that there are, and the end once.
class CheckingOutlet final : public JobOutlet {
 public:
  void tell(std::uint32_t host, const HostCommand& command) override {
    TERRANE_CHECK(host < kHosts, "a command goes to a host of the job");
    if (std::holds_alternative<command::End>(command)) {
      TERRANE_CHECK(!ended_[host], "a host is told to end once");
      ended_[host] = true;
    }
  }
  void say(const std::string&) override {}

 private:
  bool ended_[kHosts] = {};
};

JobPlan make_plan() {
  JobPlan plan;
  plan.program.map = {{"alpha", "beta", "gamma"}, {0, 0, 1, 2, 2}};
  plan.program.argv = {"program"};
  return plan;
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  static const std::unique_ptr<Loop> loop = Loop::create().value();
  InputReader reader(input);
  JobPlan plan = make_plan();
  plan.survive = reader.below(2) == 1;
  CheckingOutlet outlet;
  Job job(plan, *loop, outlet);
  job.started();
  while (!reader.empty()) {
    std::uint32_t host = reader.below(kHosts);
    if (reader.below(16) == 0) {
      job.host_lost(host, {.cause = Death::Cause::kHostLost, .sentence = "gone"});
    } else if (auto event = decode_message<HostEvent>(reader.take_part())) {
      if (!job.on_event(host, *event)) {
        job.host_lost(host, {.cause = Death::Cause::kHostLost, .sentence = "nonsense"});
      }
    }
    TERRANE_CHECK(job.exit_code() >= 0 && job.exit_code() < 256, "an exit code is a byte");
    TERRANE_CHECK(!job.is_ending() || job.exit_code() != 0, "what ends a job is no success");
  }
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  const auto events = [](InputWriter& out, std::uint32_t host, const HostEvent& event) {
    out.byte(host).byte(1).part(encode_message(event));
  };
  InputWriter good;
  good.byte(0);
  InputWriter bad;
  bad.byte(0);
  InputWriter surviving;
  surviving.byte(1);
  std::uint32_t hosts[] = {0, 0, 1, 2, 2};
  for (std::uint32_t node = 0; node < 5; ++node) {
    for (InputWriter* out : {&good, &bad, &surviving}) {
      events(*out, hosts[node], event::NodeStarted{NodeId{node}, 100});
      events(*out, hosts[node], event::NodeJoined{NodeId{node}});
      events(*out, hosts[node], event::NodeWaits{NodeId{node}});
      events(*out, hosts[node], event::Card{NodeId{node}, std::vector<std::byte>(9)});
    }
  }
  Death death{.node = NodeId{3}, .pid = 100, .cause = Death::Cause::kSignal, .number = 9};
  events(bad, 2, event::NodeDied{death});
  events(surviving, 2, event::NodeDied{death});
  for (std::uint32_t node = 0; node < 5; ++node) {
    for (InputWriter* out : {&good, &bad, &surviving}) {
      events(*out, hosts[node], event::NodeLeft{NodeId{node}});
      events(*out, hosts[node], event::NodeEnded{NodeId{node}});
      events(*out, hosts[node], event::Ended{});
    }
  }
  for (InputWriter* out : {&good, &bad, &surviving}) all.push_back(out->input());
  return all;
}

}  // namespace terrane::fuzz
