#include "tools/launch/hub/job.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/overloaded.h"
#include "tools/launch/host/debugger.h"
#include "tools/launch/host/forwarded_signals.h"

namespace terrane::tools {
namespace {

constexpr std::uint32_t kExchangeErrorMs =
    50;  // for nodes to see their exchange fail before SIGTERM
// For what other hosts know to come in before a failure is named: a death is often seen first by
// its effect on others.
constexpr std::uint64_t kHearHostsMs = 25;
constexpr std::uint32_t kAskMs = 100;             // from SIGTERM of --timeout to the end
constexpr std::uint64_t kHearAfterAbortMs = 250;  // what made it abort may be on its way still
constexpr std::uint64_t kHearOutputMs = 50;       // ... and so may be why nobody reads its output

std::string place_of(const bootstrap::JobMap& map) {
  return map.started_hosts() == 1 ? map.names[0] : fmt::format("{} hosts", map.started_hosts());
}

}  // namespace

Job::Job(const JobPlan& plan, Loop& loop, JobOutlet& outlet)
    : plan_(plan),
      outlet_(outlet),
      place_(place_of(plan.program.map)),
      nodes_(plan.program.map.nodes()),
      host_running_(plan.program.map.names.size(), true),
      hosts_running_(plan.program.map.started_hosts()),
      exchange_(plan.program.map.started()),
      started_at_ms_(now_ms()),
      verdict_(loop, [this] { pronounce(); }),
      timeout_(
          loop,
          [this] {
            bool is_one = shares_program(plan_.program.preload);
            if (is_one) tell_all(command::Signal{SIGTERM});
            end(kExitTimeout,
                fmt::format(
                    "the job on {} was still running after {} s (--timeout) and is being ended",
                    place_, static_cast<double>(plan_.timeout_ms) / 1000),
                is_one ? kAskMs : 0);
          }),
      grace_(loop,
             [this] {
               kill_for(grace_signal_, fmt::format("still ran {} s after {} (--grace)",
                                                   static_cast<double>(plan_.grace_ms) / 1000,
                                                   signal_name(grace_signal_)));
             }),
      absence_(loop, [this] { tell_of_absence(); }) {
  for (std::uint32_t host = hosts_running_; host < host_running_.size(); ++host)
    host_running_[host] = false;
}

void Job::started() {
  if (plan_.timeout_ms != 0 && !is_ending()) timeout_.set_in(plan_.timeout_ms);
}

bool Job::belongs(std::uint32_t host, NodeId node) const {
  const bootstrap::JobMap& map = plan_.program.map;
  return node.value < map.nodes() && map.host_of[node.value] == host;
}

bool Job::on_event(std::uint32_t host, const HostEvent& event) {
  bool sense = true;
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.node; }) sense = belongs(host, one.node);
        if constexpr (requires { one.death; }) sense = belongs(host, one.death.node);
        if constexpr (requires { one.number; }) sense = one.number > 0 && one.number < NSIG;
      },
      event);
  if (!sense || !host_running_[host]) return sense;
  std::visit(
      base::Overloaded{
          [this](const event::NodeStarted& one) {
            if (std::exchange(nodes_[one.node.value].started, true)) return;
            ++running_;
            tell_of_start(one.node.value, one.pid);
          },
          [this](const event::NodeJoined& one) {
            if (std::exchange(nodes_[one.node.value].joined, true)) return;
            if (is_guest(one.node.value)) return;
            if (++joined_ == plan_.program.map.started() && plan_.verbose) {
              outlet_.say(fmt::format("all {} nodes have joined, {} ms after the start", joined_,
                                      now_ms() - started_at_ms_));
            }
          },
          [this](const event::NodeWaits& one) {
            if (is_guest(one.node.value)) return;
            exchange_.waits(one.node.value);
            bool reports = plan_.patience_ms != 0 && !plan_.program.hold && !is_ending();
            if (reports && !absence_.is_set()) absence_.set_in(plan_.patience_ms);
            judge_soon();
          },
          [this](const event::NodeLeft& one) {
            nodes_[one.node.value].left = true;
            if (!is_guest(one.node.value)) exchange_.left(one.node.value);
            member_gone(one.node.value);
            judge_soon();
          },
          [this, host](const event::NodeLeftAlone& one) {
            bool guest = is_guest(one.node.value);
            nodes_[one.node.value].left = true;
            if (!guest) exchange_.left(one.node.value);
            tell_gone(one.node.value);
            if (guest) guest_goes(host, one.node.value);
            judge_soon();
          },
          [this](const event::NodeWantsIn& one) { guest_wants_in(one.node.value); },
          [this](const event::NodeIsInside& one) { guest_is_inside(one.node.value); },
          [this](const event::NodeAdmits& one) { node_admits(one.node.value, one.guest.value); },
          [this](const event::NodeCloses&) { close_to_guests(); },
          [this](const event::NodeEnded& one) { node_ended(one.node.value); },
          [this](const event::NodeDied& one) { consider(one.death); },
          [this](const event::Card& one) { take_card(one.node.value, one.bytes); },
          [this](const event::Exchanged&) { exchanged(); },
          [this](const event::Signalled& one) { on_signal(one.number); },
          [this](const event::Notice& one) { outlet_.say(one.text); },
          [this](const event::Failed& one) { fail(failure_code(one.exit_code), one.sentence); },
          [this, host](const event::Ended&) { host_ended(host); },
          [](const auto&) {},
      },
      event);
  return true;
}

void Job::tell_of_start(std::uint32_t node, std::int32_t pid) {
  const std::string& host = host_name(node);
  if (plan_.program.hold && plan_.terminal.empty()) {
    outlet_.say(fmt::format("node {} (process {} on {}) waits for a debugger: {}", node, pid, host,
                            in_shell_words(debugger_words(pid))));
  } else if (plan_.verbose) {
    outlet_.say(fmt::format("node {} is process {} on {}", node, pid, host));
  }
}

void Job::tell_all(const HostCommand& command) {
  for (std::uint32_t host = 0; host < host_running_.size(); ++host) {
    if (host_running_[host]) outlet_.tell(host, command);
  }
}

void Job::host_ended(std::uint32_t host) {
  if (!host_running_[host]) return;
  host_running_[host] = false;
  if (--hosts_running_ != 0) return;
  if (verdict_.is_set()) pronounce();  // what is known by now is all that there will be
  verdict_.clear();
  timeout_.clear();
  absence_.clear();
  grace_.clear();
}

void Job::node_ended(std::uint32_t node) {
  if (std::exchange(nodes_[node].ended, true)) return;
  if (nodes_[node].started) --running_;
  if (is_guest(node)) return guest_gives_up(node);
  exchange_.ended(node);
  member_gone(node);
  judge_soon();
}

void Job::take_card(std::uint32_t node, const std::vector<std::byte>& bytes) {
  if (nodes_[node].card) return;
  nodes_[node].card = bytes;
  if (is_guest(node)) {
    waiting_guests_.push_back(node);
    return next_guest();
  }
  if (++cards_ == plan_.program.map.started()) merge_cards();
}

void Job::merge_cards() {
  const bootstrap::JobMap& map = plan_.program.map;
  for (std::uint32_t host = 0; host < host_running_.size(); ++host) {
    if (!host_running_[host]) continue;
    for (std::uint32_t node = 0; node < map.started(); ++node) {
      if (map.host_of[node] != host) {
        outlet_.tell(host, command::Card{NodeId{node}, *nodes_[node].card});
      }
    }
    outlet_.tell(host, command::SendCards{});
  }
  for (Node& node : nodes_) {
    if (map.guests == 0) node.card.reset();
  }
  cards_ = 0;
  exchanged();
  if (map.guests == 0) return;
  for (std::uint32_t node = 0; node < map.started(); ++node) nodes_[node].member = true;
  together_ = true;
  next_guest();
}

bool Job::all_nodes_ended() const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) { return node.ended || !node.started; });
}

// A program may handle or ignore what is passed on to it. The sender of the signal has the last
// word: the same signal once more kills the job, and so does the end of a grace time after the
// signals by which other programs (timeout, a shell that ends, a batch system) end a job. A program
// whose threads run on all nodes gets every signal, as it would by itself.
void Job::on_signal(int signal) {
  bool ends = ends_a_job(signal);
  bool repeated = ends && signal == last_signal_ && !shares_program(plan_.program.preload);
  last_signal_ = signal;
  if (ends && all_nodes_ended()) return kill(kExitSignalBase + signal);  // nobody reads its output
  if (repeated) return kill_for(signal, fmt::format("was sent {} twice", signal_name(signal)));
  tell_all(command::Signal{signal});
  if (ends && signal != SIGINT && !grace_.is_set() && plan_.grace_ms != JobPlan::kNoGrace) {
    grace_signal_ = signal;
    grace_.set_in(plan_.grace_ms);
  }
}

void Job::kill_for(int signal, const std::string& why) {
  if (stage_ == Stage::kRunning)
    outlet_.say(fmt::format("the job on {} {} and has been killed", place_, why));
  kill(kExitSignalBase + signal);
}

void Job::host_lost(std::uint32_t host, Death cause) {
  if (!host_running_[host]) return;
  const bootstrap::JobMap& map = plan_.program.map;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (map.host_of[node] != host || nodes_[node].ended) continue;
    cause.node = NodeId{node};
    consider(cause);
    node_ended(node);
  }
  host_ended(host);
}

void Job::kill(int exit_code) {
  stage_ = Stage::kEnding;
  exit_code_ = exit_code;
  verdict_.clear();
  timeout_.clear();
  absence_.clear();
  grace_.clear();
  tell_all(command::Kill{});
}

void Job::consider(Death death) {
  if (stage_ != Stage::kRunning) return;
  std::uint32_t node = death.node.value;
  bool stranger = is_guest(node) && (!nodes_[node].member || entering_ == node);
  if (stranger) return guest_gives_up(node);
  bool ends_all = death.cause == Death::Cause::kNotStarted || death.cause == Death::Cause::kAsked;
  // Nobody waits for what has left, and the others' ends may not be over.
  bool fails_alone = nodes_[node].left && death.cause == Death::Cause::kExitCode;
  if ((plan_.survive && !ends_all) || fails_alone) return survive(death);
  if (!first_death_ || explains_more(death, *first_death_)) {
    first_death_ = std::move(death);
    verdict_.clear();
  }
  judge_soon();
}

// The job goes on, and the others hear of it with --on-death survive.
void Job::survive(const Death& death) {
  if (exit_code_ == 0) exit_code_ = exit_code_of(death);
  std::string sentence = describe(death, host_name(death.node.value), 0);
  outlet_.say(sentence);
  if (!plan_.survive) return;
  tell_all(command::TellDeath{death.node, sentence});
  note_gone(death.node.value);
}

void Job::judge_soon() {
  if (stage_ != Stage::kRunning || verdict_.is_set()) return;
  std::uint64_t patience_ms =
      first_death_ && is_abort(*first_death_) ? kHearAfterAbortMs : kHearHostsMs;
  if (first_death_ && is_broken_pipe(*first_death_)) return verdict_.set_in(kHearOutputMs);
  verdict_.set_in(host_running_.size() == 1 ? 0 : patience_ms);
}

void Job::exchanged() {
  exchange_.done();
  absence_.clear();
}

void Job::tell_of_absence() {
  if (auto sentence = exchange_.absence())
    outlet_.say(
        fmt::format("after {:g} s {}", static_cast<double>(plan_.patience_ms) / 1000, *sentence));
}

// Ends the job for what has come to light, if anything.
void Job::pronounce() {
  if (stage_ != Stage::kRunning) return;
  if (first_death_ && first_death_->cause == Death::Cause::kAsked) {
    end(exit_code_of(*first_death_), "", 0);
  } else if (first_death_) {
    end(exit_code_of(*first_death_), describe_death(*first_death_), 0);
  } else if (auto obstacle = exchange_.obstacle()) {
    end(kExitFailure, fmt::format("the job on {} cannot go on: {}", place_, *obstacle),
        kExchangeErrorMs);
  }
}

std::string Job::describe_death(const Death& death) const {
  // A program may handle it, and say so as a shell would.
  bool by_code = death.cause == Death::Cause::kExitCode && last_signal_ != 0 &&
                 death.number == kExitSignalBase + last_signal_;
  if (by_code || (death.cause == Death::Cause::kSignal && death.number == last_signal_)) {
    return fmt::format("the job on {} was ended by {}, which terrane run was sent and passed on",
                       place_, signal_name(last_signal_));
  }
  std::uint32_t others = running_ - (nodes_[death.node.value].ended || running_ == 0 ? 0 : 1);
  return describe(death, host_name(death.node.value), others);
}

void Job::end(int exit_code, const std::string& sentence, std::uint32_t delay_ms) {
  if (stage_ != Stage::kRunning) return;
  stage_ = Stage::kEnding;
  exit_code_ = exit_code;
  timeout_.clear();
  absence_.clear();
  verdict_.clear();
  if (!sentence.empty()) outlet_.say(sentence);
  tell_all(command::End{sentence, delay_ms});
}

}  // namespace terrane::tools
