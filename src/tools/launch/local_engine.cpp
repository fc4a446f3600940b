#include "tools/launch/local_engine.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"
#include "bootstrap/this_host.h"
#include "tools/launch/cpu_binding.h"
#include "tools/launch/forwarded_signals.h"
#include "tools/launch/process_tree.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kKillAgainMs = 10;
constexpr std::uint64_t kPatienceMs =
    2000;  // with processes that SIGKILL does not end (in the kernel)

bool ends_a_job(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace

LocalEngine::LocalEngine(const JobPlan& plan, const Inheritance& inheritance, base::UniqueFd front,
                         base::UniqueFd input)
    : plan_(plan),
      inheritance_(inheritance),
      front_(std::move(front)),
      input_(std::move(input)),
      host_(bootstrap::this_hosts_name()),
      nodes_(plan.nodes) {}

int LocalEngine::run() {
  started_at_ms_ = now_ms();
  if (auto started = start(); !started) {
    base::log("{}", started.error().message);
    kill_all_descendants(0, kPatienceMs);
    return kExitFailure;
  }
  while (running_ > 0) wait();
  settle();
  return exit_code_;
}

base::Result<> LocalEngine::start() {
  if (plan_.tag_output) {
    tagged_.emplace(plan_.nodes);
    if (auto opened = tagged_->open(); !opened) return opened.error();
    auto tagger = tagged_->start();
    if (!tagger) return tagger.error();
    tagger_ = tagger.value();
  }
  auto relay = bootstrap::Relay::create(bootstrap::map_of_one_host(plan_.nodes, host_));
  if (!relay) return relay.error();
  relay_ = std::move(relay).value();
  if (auto watched = watch_all(); !watched) return watched.error();
  if (auto started = start_nodes(); !started) return started.error();
  if (plan_.timeout_ms != 0) timeout_at_ms_ = now_ms() + plan_.timeout_ms;
  return {};
}

base::Result<> LocalEngine::watch_all() {
  int errors[2];
  if (::pipe2(errors, O_CLOEXEC | O_NONBLOCK) < 0) return base::errno_error("cannot make a pipe");
  start_errors_in_.reset(errors[0]);
  start_errors_out_.reset(errors[1]);
  sigset_t watched = forwarded_signals();
  ::sigaddset(&watched, SIGCHLD);
  signals_.reset(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  events_.reset(::epoll_create1(EPOLL_CLOEXEC));
  bool ok = signals_ && events_ && watch(front_.get(), kFront) && watch(signals_.get(), kSignals) &&
            watch(relay_->event_fd(), kRelay) && watch(start_errors_in_.get(), kStartErrors);
  if (!ok) return base::errno_error("cannot watch the job");
  return {};
}

bool LocalEngine::watch(int fd, std::uint64_t source) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = source;
  return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

base::Result<> LocalEngine::start_nodes() {
  base::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return base::errno_error("cannot open /dev/null");
  std::vector<cpu_set_t> cores;
  if (plan_.bind_to_core) cores = usable_cores();
  std::string job_name = fmt::format("{}.{}", ::getpid(), started_at_ms_);
  for (std::uint32_t node = 0; node < plan_.nodes; ++node) {
    auto place = relay_->open_place(NodeId{node});
    if (!place) return place.error();
    NodeStart start{.node = NodeId{node},
                    .plan = &plan_,
                    .inheritance = &inheritance_,
                    .job_name = job_name,
                    .place = place.value().get(),
                    .input = node == 0 ? input_.get() : nothing.get(),
                    .output = tagged_ ? tagged_->output_of(node) : -1,
                    .error = tagged_ ? tagged_->error_of(node) : -1,
                    .start_errors = start_errors_out_.get(),
                    .cpus = cores.empty() ? nullptr : &cores[node % cores.size()]};
    auto pid = spawn_node(start);
    if (!pid) return pid.error();
    nodes_[node].pid = pid.value();
    node_of_[pid.value()] = node;
    ++running_;
    if (plan_.verbose) base::log("node {} is process {} on {}", node, pid.value(), host_);
  }
  input_.reset();
  if (tagged_) tagged_->close_nodes_ends();
  return {};
}

// After the last node: whoever is left of the job is ended, and the last lines of tagged output are
// written.
void LocalEngine::settle() {
  stage_ = Stage::kEnded;
  if (!kill_all_descendants(tagger_, kPatienceMs)) {
    base::log("some processes of the job on {} do not end, even by SIGKILL; look with: ps -ef",
              host_);
  }
  timeout_at_ms_ = ask_at_ms_ = kill_at_ms_ = give_up_at_ms_ = judge_at_ms_ = 0;
  while (tagger_ != 0) wait();
}

void LocalEngine::wait() {
  epoll_event ready[16];
  int count = ::epoll_wait(events_.get(), ready, 16, next_timeout_ms());
  bool child_ended = false;
  for (int i = 0; i < count; ++i) {
    std::uint64_t source = ready[i].data.u64;
    if (source == kFront) {
      on_front();
    } else if (source == kSignals) {
      on_signals();
      child_ended = true;
    } else if (source == kStartErrors) {
      read_start_errors();
    } else if (source >= kFirstNode) {
      on_joined_end(static_cast<std::uint32_t>(source - kFirstNode));
    }
  }
  on_relay();  // before the dead are judged: what they said last counts
  if (child_ended) reap();
  on_time();
  pronounce();
}

int LocalEngine::next_timeout_ms() const {
  std::uint64_t next = UINT64_MAX;
  for (std::uint64_t at : {timeout_at_ms_, ask_at_ms_, kill_at_ms_, give_up_at_ms_, judge_at_ms_}) {
    if (at != 0) next = std::min(next, at);
  }
  if (relay_->must_retry()) next = std::min(next, now_ms() + 1);
  if (next == UINT64_MAX) return -1;
  std::uint64_t now = now_ms();
  return next <= now ? 0 : static_cast<int>(std::min<std::uint64_t>(next - now, INT32_MAX));
}

void LocalEngine::on_time() {
  std::uint64_t now = now_ms();
  auto due = [now](std::uint64_t& at) {
    if (at == 0 || now < at) return false;
    at = 0;
    return true;
  };
  if (due(timeout_at_ms_)) {
    end_job(kExitTimeout,
            fmt::format("the job on {} was still running after {} s (--timeout) and is being ended",
                        host_, static_cast<double>(plan_.timeout_ms) / 1000),
            0);
  }
  if (due(judge_at_ms_) && nodes_[judged_].pid != 0) {
    judge_wrapped(judged_);
  }
  if (due(give_up_at_ms_)) running_ = 0;  // settle() says so
  if (due(ask_at_ms_)) {
    signal_nodes(SIGTERM);
    signal_nodes(SIGCONT);  // a stopped process sees SIGTERM only once it goes on
  }
  if (due(kill_at_ms_)) kill_now();
}

void LocalEngine::on_front() {
  int signal = 0;
  ssize_t got = ::recv(front_.get(), &signal, sizeof signal, MSG_DONTWAIT);
  if (got < 0) return;
  if (got == 0) {  // killed: nobody is left to be told anything
    front_.reset();
    stage_ = Stage::kEnding;
    exit_code_ = kExitFailure;
    if (tagger_ != 0) ::kill(tagger_, SIGKILL);
    kill_now();
    return;
  }
  if (stage_ == Stage::kEnded && tagger_ != 0 &&
      ends_a_job(signal)) {  // only the output is left, and its reader does not read
    ::kill(tagger_, SIGKILL);
    exit_code_ = kExitSignalBase + signal;
  }
  last_forwarded_ = signal;
  signal_nodes(signal);
}

void LocalEngine::on_relay() {
  std::vector<NodeId> joined;
  relay_->serve(joined);
  for (NodeId node : joined) {
    hand_over_lifeline(node);
    if (relay_->place(node).pid != nodes_[node.value].pid) watch_joined(node.value);
    if (++joined_ == plan_.nodes && plan_.verbose) {
      base::log("all {} nodes have joined, {} ms after the start", joined_,
                now_ms() - started_at_ms_);
    }
  }
  for (std::uint32_t node = 0; node < plan_.nodes; ++node) {
    const bootstrap::Place& place = relay_->place(NodeId{node});
    if (!place.failed) continue;
    consider({.node = NodeId{node},
              .pid = place.pid,
              .cause = Death::Cause::kSentence,
              .number = place.code,
              .sentence = place.sentence});
  }
}

// To the front: its death then ends the node at once, whether or not this process gets a processor
// soon. Where the front cannot take it, it stays here.
void LocalEngine::hand_over_lifeline(NodeId node) {
  base::UniqueFd lifeline = relay_->take_lifeline(node);
  const int fds[1] = {lifeline.get()};
  bootstrap::MessageHeader header{.kind = bootstrap::MessageKind::kLifeline, .node = node.value};
  auto sent = bootstrap::send_packet(front_.get(), header, {}, fds, MSG_DONTWAIT);
  if (sent != bootstrap::PacketStatus::kDone) kept_lifelines_.push_back(std::move(lifeline));
}

// Signals that somebody sends to this process, and not to the one that they started, count as if
// sent there.
void LocalEngine::on_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    last_forwarded_ = signal;
    signal_nodes(signal);
  }
}

void LocalEngine::signal_nodes(int signal) {
  for (const Node& node : nodes_) {
    if (node.pid != 0) ::kill(-node.pid, signal);
  }
}

void LocalEngine::kill_now() {
  signal_nodes(SIGKILL);
  kill_descendants(tagger_);
  kill_at_ms_ = now_ms() + kKillAgainMs;
  if (give_up_at_ms_ == 0) give_up_at_ms_ = now_ms() + kPatienceMs;
}

}  // namespace terrane::tools
