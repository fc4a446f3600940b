// The part of a host that learns how nodes end.

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>

#include "tools/launch/host/host_part.h"
#include "tools/launch/host/process_tree.h"

namespace terrane::tools {
namespace {

using bootstrap::Place;

constexpr std::uint64_t kWrapperMs = 20;  // for a wrapper to end after the program in it

}  // namespace

void HostPart::read_start_errors() {
  StartError error;
  while (::read(start_errors_in_.get(), &error, sizeof error) == sizeof error) {
    start_errors_.push_back(error);
  }
}

// The program joined from below a wrapper (a script, a debugger): the wrapper's death is not the
// program's.
void HostPart::watch_joined(std::uint32_t node) {
  base::UniqueFd& joined = nodes_[node].joined;
  joined.reset(open_pidfd(relay_->place(NodeId{node}).pid));
  bool watched = joined && around_.loop->watch(joined.get(), EPOLLIN, [this, node](std::uint32_t) {
    on_joined_end(node);
  });
  if (!watched) on_joined_end(node);
}

void HostPart::on_joined_end(std::uint32_t node) {
  if (nodes_[node].joined) around_.loop->forget(nodes_[node].joined.get());
  nodes_[node].joined_ended = true;
  wrapped_dead_.push_back(node);
  if (!judge_.is_set()) judge_.set_in(kWrapperMs);
}

// Those whose wrapper still runs: it has ended its program, or lost it.
void HostPart::judge_waiting() {
  for (std::uint32_t node : std::exchange(wrapped_dead_, {})) {
    if (nodes_[node].pid != 0) judge_wrapped(node);
  }
}

void HostPart::on_node_end(std::uint32_t node, pid_t pid, int status) {
  read_start_errors();
  std::vector<bootstrap::Relay::Change> changes;
  relay_->set_gone(NodeId{node}, changes);
  take_changes(changes);
  nodes_[node].pid = 0;
  --running_;
  judge(node, pid, status);
  report(event::NodeEnded{NodeId{node}});
  settle_if_last();
}

void HostPart::judge(std::uint32_t node, pid_t pid, int status) {
  const Place& place = relay_->place(NodeId{node});
  auto failed_start = std::find_if(start_errors_.begin(), start_errors_.end(),
                                   [node](const StartError& error) { return error.node == node; });
  bool wrapped = place.presence != Place::Presence::kAbsent && place.pid != pid;
  if (failed_start != start_errors_.end()) {
    died({.node = NodeId{node},
          .pid = pid,
          .cause = Death::Cause::kNotStarted,
          .number = failed_start->error});
  } else if (status != 0) {
    died(death_of(NodeId{node}, pid, status));
  } else if (wrapped && nodes_[node].joined_ended) {
    judge_wrapped(node);
  } else if (place.presence == Place::Presence::kJoined) {
    died({.node = NodeId{node}, .pid = pid, .cause = Death::Cause::kNotLeft});
  }
}

// Of the process that joined under a wrapper and has ended. On kernels before 6.15 its exit status
// is its parent's alone.
void HostPart::judge_wrapped(std::uint32_t node) {
  const Place& place = relay_->place(NodeId{node});
  if (place.presence == Place::Presence::kLeft) return;
  Death death{.node = NodeId{node}, .pid = place.pid, .cause = Death::Cause::kLost};
  if (auto status = foreign_exit_status(nodes_[node].joined.get())) {
    death.cause = Death::Cause::kNotLeft;
    if (*status != 0) death = death_of(NodeId{node}, place.pid, *status);
  }
  died(std::move(death));
}

// The first of what is found for a node counts: what it said itself comes before its end.
void HostPart::died(Death death) {
  Node& node = nodes_[death.node.value];
  if (node.died) return;
  node.died = true;
  report(event::NodeDied{std::move(death)});
}

// The others give up on a node that is declared dead. It must not go on: its calls would be
// answered by itself alone. SIGKILL ends a stopped process, too, and nothing of it is left to wait
// for.
void HostPart::kill_declared_dead(std::uint32_t node) {
  pid_t pid = nodes_[node].pid;
  pid_t joined = relay_->place(NodeId{node}).pid;
  if (joined != 0 && joined != pid && !nodes_[node].joined_ended) ::kill(joined, SIGKILL);
  if (pid != 0) ::kill(doorkeeper_ ? pid : -pid, SIGKILL);
}

// A node that is stopped, and not by the launcher or a debugger, makes all others wait.
void HostPart::look_for_stopped() {
  look_.set_in(stopped_.period_ms());
  std::uint64_t now = now_ms();
  for (std::uint32_t node : here_) {
    pid_t pid = nodes_[node].pid;
    const Place& place = relay_->place(NodeId{node});
    bool stopped = pid != 0 && !paused_ &&
                   (is_stopped(pid) ||
                    (place.pid != 0 && !nodes_[node].joined_ended && is_stopped(place.pid)));
    if (!stopped) stopped_.heard(node, now);
  }
  for (std::uint32_t node : stopped_.look(now)) {
    pid_t joined = relay_->place(NodeId{node}).pid;
    pid_t pid = joined != 0 ? joined : nodes_[node].pid;
    stopped_.dismiss(node);
    kill_declared_dead(node);
    died({.node = NodeId{node},
          .pid = pid,
          .cause = Death::Cause::kSilent,
          .number = static_cast<int>(plan_.heartbeat_ms),
          .sentence =
              fmt::format("process {} was stopped for that long, and has been killed; longer "
                          "stops are allowed by: --heartbeat SECONDS",
                          pid)});
  }
}

}  // namespace terrane::tools
