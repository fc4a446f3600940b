#include "tools/launch/host/host_part.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <type_traits>

#include "base/overloaded.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/cpu_binding.h"
#include "tools/launch/host/forwarded_signals.h"
#include "tools/launch/host/process_tree.h"
#include "tools/launch/output/output_process.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kAskMs = 100;  // from SIGTERM to SIGKILL
constexpr std::uint64_t kKillAgainMs = 10;
// For another launcher to see how the first node failed before it sees others end by our signals:
// its exit code is that of the first.
constexpr std::uint32_t kLauncherFirstMs = 50;
constexpr std::uint64_t kPatienceMs =
    2000;  // with processes that SIGKILL does not end (in the kernel)

}  // namespace

HostPart::HostPart(const HostPlan& plan, HostSurroundings around)
    : plan_(plan),
      around_(std::move(around)),
      host_name_(plan.map.names[plan.host]),
      nodes_(plan.map.nodes()),
      stopped_(plan.map.nodes(), std::max<std::uint64_t>(plan.heartbeat_ms, 1)),
      retry_(*around_.loop, [this] { on_relay(); }),
      ask_(*around_.loop,
           [this] {
             signal_nodes(SIGTERM);
             signal_nodes(SIGCONT);  // a stopped process sees SIGTERM only once it goes on
           }),
      kill_(*around_.loop, [this] { kill_now(); }),
      give_up_(*around_.loop, [this] { settle(); }),
      judge_(*around_.loop, [this] { judge_waiting(); }),
      look_(*around_.loop, [this] { look_for_stopped(); }),
      settle_(*around_.loop, [this] { kill_the_rest(); }) {
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (plan.map.host_of[node] == plan.host) here_.push_back(node);
  }
}

base::Result<> HostPart::start(base::UniqueFd input) {
  if (auto relay = bootstrap::Relay::create(plan_.map, plan_.host); relay) {
    relay_ = std::move(relay).value();
  } else {
    return relay.error();
  }
  int errors[2];
  if (::pipe2(errors, O_CLOEXEC | O_NONBLOCK) < 0) return base::errno_error("cannot make a pipe");
  start_errors_in_.reset(errors[0]);
  start_errors_out_.reset(errors[1]);
  bool watched =
      around_.loop->watch(relay_->event_fd(), EPOLLIN, [this](std::uint32_t) { on_relay(); });
  if (!watched) return base::errno_error("cannot watch the job");
  if (plan_.tag_output) {
    if (auto started = start_tagger(); !started) return started;
  }
  auto started = around_.door ? open_door() : start_nodes(std::move(input));
  if (!started) return started;
  if (plan_.heartbeat_ms != 0) look_.set_in(stopped_.period_ms());
  return {};
}

base::Result<> HostPart::start_tagger() {
  OutputProcess tagger;
  for (std::uint32_t node : here_) {
    for (bool is_error : {false, true}) {
      auto end = tagger.add(is_error, fmt::format("[{}] ", node));
      if (!end) return end.error();
      tagged_.push_back(std::move(end).value());
    }
  }
  auto process = tagger.start(around_.inheritance->nice, around_.output, around_.error);
  if (!process) return process.error();
  tagger_ = process.value();
  around_.children->expect(tagger_, [this](int status) {
    tagger_ = 0;
    if (auto failure = OutputProcess::failure(status)) report(event::Failed{*failure, kExitOutput});
    maybe_ended();
  });
  return {};
}

base::Result<> HostPart::start_nodes(base::UniqueFd input) {
  base::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return base::errno_error("cannot open /dev/null");
  std::vector<cpu_set_t> bound = bound_processors(plan_.binding, usable_cores(), here_.size());
  std::size_t count = 0;
  for (std::uint32_t node : here_) {
    int own_input = count == 0 && input ? input.get() : nothing.get();
    auto started = start_node(node, own_input, bound.empty() ? nullptr : &bound[count]);
    if (!started) return started;
    ++count;
  }
  tagged_.clear();
  return {};
}

base::Result<> HostPart::start_node(std::uint32_t node, int input, const cpu_set_t* cpus) {
  auto place = relay_->open_place(NodeId{node});
  if (!place) return place.error();
  std::size_t index = 2 * std::size_t{running_};
  bool tagged = !tagged_.empty();
  NodeStart start{.node = NodeId{node},
                  .plan = &plan_,
                  .inheritance = around_.inheritance,
                  .place = place.value().get(),
                  .input = input,
                  .output = tagged ? tagged_[index].get() : around_.output,
                  .error = tagged ? tagged_[index + 1].get() : around_.error,
                  .start_errors = start_errors_out_.get(),
                  .cpus = cpus,
                  .speaks_for_host = running_ == 0};
  auto pid = spawn_node(start);
  if (!pid) return pid.error();
  around_.children->expect(
      pid.value(), [this, node, pid = pid.value()](int status) { on_node_end(node, pid, status); });
  has_started(node, pid.value());
  return {};
}

void HostPart::has_started(std::uint32_t node, pid_t pid) {
  nodes_[node].pid = pid;
  stopped_.expect(node, now_ms());
  ++running_;
  report(event::NodeStarted{NodeId{node}, pid});
}

void HostPart::act(const HostCommand& command) {
  std::visit(
      base::Overloaded{
          [this](const command::Card& card) { relay_->add_foreign(card.node, card.bytes); },
          [this](const command::SendCards&) {
            if (relay_->all_wait()) end_exchange();
          },
          [this](const command::FailExchange& fail) { relay_->fail_exchange(fail.sentence); },
          [this](const command::TellDeath& news) {
            bool ours = std::find(here_.begin(), here_.end(), news.node.value) != here_.end();
            if (ours) kill_declared_dead(news.node.value);
            relay_->tell_death(news.node, news.why);
            retry_if_due();
          },
          [this](const command::TellGone& news) {
            relay_->tell_gone(news.node);
            retry_if_due();
          },
          [this](const command::Newcomer& news) {
            relay_->tell_newcomer(news.node, news.host, news.card);
            retry_if_due();
          },
          [this](const command::LetIn& guest) { relay_->let_in(guest.node, guest.history); },
          [this](const command::Closed&) {
            relay_->tell_closed();
            retry_if_due();
          },
          [this](const command::Signal& signal) { pass_signal(signal.number); },
          [this](const command::End& end) {
            relay_->fail_exchange(end.sentence);
            relay_->announce_end();
            this->end(end.delay_ms);
          },
          [this](const command::Ask&) { ask_nodes(); },
          [this](const command::Kill&) {
            kill_tagger();
            kill_now();
          },
          [](const auto&) {},
      },
      command);
}

void HostPart::on_relay() {
  std::vector<bootstrap::Relay::Change> changes;
  relay_->serve(changes);
  take_changes(changes);
  retry_if_due();
}

void HostPart::retry_if_due() {
  if (relay_->must_retry()) retry_.set_in(1);
}

void HostPart::take_changes(const std::vector<bootstrap::Relay::Change>& changes) {
  using What = bootstrap::Relay::What;
  for (const auto& [node, what, about] : changes) {
    switch (what) {
      case What::kJoined:
        hand_over_lifeline(node);
        if (relay_->place(node).pid != nodes_[node.value].pid) watch_joined(node.value);
        report(event::NodeJoined{node});
        break;
      case What::kWaits:
        report(event::NodeWaits{node});
        break;
      case What::kWantsIn:
        report(event::NodeWantsIn{node});
        break;
      case What::kInside:
        report(event::NodeIsInside{node});
        break;
      case What::kAdmitted:
        report(event::NodeAdmits{node, about});
        break;
      case What::kClosing:
        report(event::NodeCloses{node});
        break;
      case What::kAnswered:
        pass_answers();
        break;
      case What::kLeft:
        report(event::NodeLeft{node});
        break;
      case What::kLeftAlone:
        report(event::NodeLeftAlone{node});
        break;
      case What::kEnding:
        died({.node = node,
              .pid = relay_->place(node).pid,
              .cause = Death::Cause::kAsked,
              .number = relay_->place(node).code});
        break;
      case What::kFailed: {
        const bootstrap::Place& place = relay_->place(node);
        died({.node = node,
              .pid = place.pid,
              .cause = Death::Cause::kSentence,
              .number = place.code,
              .sentence = place.sentence});
        break;
      }
    }
  }
  bool one_waits = std::any_of(changes.begin(), changes.end(),
                               [](const auto& change) { return change.what == What::kWaits; });
  if (one_waits && relay_->all_wait()) exchange();
}

// Every node here waits: nobody sends a card of the next exchange before this one has ended.
void HostPart::exchange() {
  if (plan_.map.names.size() == 1) {
    end_exchange();
    return report(event::Exchanged{});
  }
  for (std::uint32_t node : here_) {
    auto card = relay_->card(NodeId{node});
    report(event::Card{NodeId{node}, {card.begin(), card.end()}});
  }
}

void HostPart::end_exchange() {
  relay_->send_cards();
  retry_if_due();
}

// To the process above: its death then ends the node at once, whether or not this process gets a
// processor soon. Where it cannot take it, it stays here.
void HostPart::hand_over_lifeline(NodeId node) {
  base::UniqueFd lifeline = relay_->take_lifeline(node);
  const int fds[1] = {lifeline.get()};
  bootstrap::MessageHeader header{.kind = bootstrap::MessageKind::kLifeline, .node = node.value};
  bool sent =
      around_.guard >= 0 && bootstrap::send_packet(around_.guard, header, {}, fds, MSG_DONTWAIT) ==
                                bootstrap::PacketStatus::kDone;
  if (!sent) kept_lifelines_.push_back(std::move(lifeline));
}

// A node that we started leads a process group; one that we took in may be in its launcher's.
void HostPart::signal_nodes(int signal) {
  for (std::uint32_t node : here_) {
    pid_t pid = nodes_[node].pid;
    if (pid != 0) ::kill(doorkeeper_ ? pid : -pid, signal);
  }
}

// A program whose threads run on all nodes is one to the sender: node 0 has its handlers.
void HostPart::pass_signal(int signal) {
  if (signal == SIGTSTP) paused_ = true;
  if (signal == SIGCONT) paused_ = false;
  if (!shares_program(plan_.preload) || stops_or_continues(signal)) return signal_nodes(signal);
  bool has_first = !here_.empty() && here_[0] == 0 && nodes_[0].pid != 0;
  if (has_first) ::kill(-nodes_[0].pid, signal);
}

void HostPart::end(std::uint32_t delay_ms) {
  if (stage_ != Stage::kRunning) return;
  stage_ = Stage::kEnding;
  if (doorkeeper_) delay_ms += kLauncherFirstMs;
  // Where one program is on all nodes, a part of it has ended already, and no handler runs then.
  bool asks = !shares_program(plan_.preload);
  if (asks) ask_.set_in(delay_ms);
  kill_.set_in(delay_ms + (asks ? kAskMs : 0));
  if (running_ == 0) settle();
}

std::vector<pid_t> HostPart::spared() const {
  std::vector<pid_t> all = around_.spared ? around_.spared() : std::vector<pid_t>();
  if (tagger_ != 0) all.push_back(tagger_);
  return all;
}

void HostPart::kill_tagger() {
  if (tagger_ != 0) ::kill(tagger_, SIGKILL);
}

void HostPart::kill_now() {
  if (stage_ == Stage::kEnded || stage_ == Stage::kSettling) return;
  stage_ = Stage::kEnding;
  signal_nodes(SIGKILL);
  kill_descendants(spared());
  if (running_ == 0) return settle();
  kill_.set_in(kKillAgainMs);
  if (!give_up_.is_set()) give_up_.set_in(kPatienceMs);
}

// A node has ended. One that another launcher started may leave before the last has come.
void HostPart::settle_if_last() {
  bool more_to_come = stage_ == Stage::kRunning && doorkeeper_ && !doorkeeper_->all_came();
  if (running_ == 0 && !more_to_come) settle();
}

// After the last node: each process that is left of the job here is ended, and the last lines of
// tagged output are written.
void HostPart::settle() {
  if (stage_ == Stage::kSettling || stage_ == Stage::kEnded) return;
  stage_ = Stage::kSettling;
  for (Timer* timer : {&ask_, &kill_, &give_up_, &judge_, &look_}) timer->clear();
  if (doorkeeper_) doorkeeper_->rest();
  settle_until_ms_ = now_ms() + kPatienceMs;
  kill_the_rest();
}

void HostPart::kill_the_rest() {
  if (kill_descendants(spared()) == 0) return maybe_ended();
  if (now_ms() < settle_until_ms_) return settle_.set_in(1);
  report(event::Notice{
      fmt::format("some processes of the job on {} do not end, even by SIGKILL; look with: ps -ef",
                  host_name_)});
  maybe_ended();
}

void HostPart::maybe_ended() {
  if (stage_ != Stage::kSettling || settle_.is_set() || tagger_ != 0) return;
  stage_ = Stage::kEnded;
  report(event::Ended{});
}

}  // namespace terrane::tools
