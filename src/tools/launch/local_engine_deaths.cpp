// The part of the engine that learns how nodes end, and what that means to the job.

#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "tools/launch/local_engine.h"
#include "tools/launch/process_tree.h"

namespace terrane::tools {
namespace {

using bootstrap::Place;

constexpr std::uint64_t kAskMs = 100;  // from SIGTERM to SIGKILL
constexpr std::uint64_t kExchangeErrorMs =
    50;                                   // for nodes to see their exchange fail before SIGTERM
constexpr std::uint64_t kWrapperMs = 20;  // for a wrapper to end after the program in it

}  // namespace

void LocalEngine::read_start_errors() {
  StartError error;
  while (::read(start_errors_in_.get(), &error, sizeof error) == sizeof error) {
    start_errors_.push_back(error);
  }
}

// The program joined from below a wrapper (a script, a debugger): the wrapper's death is not the
// program's.
void LocalEngine::watch_joined(std::uint32_t node) {
  nodes_[node].joined.reset(open_pidfd(relay_->place(NodeId{node}).pid));
  if (!nodes_[node].joined || !watch(nodes_[node].joined.get(), kFirstNode + node)) {
    on_joined_end(node);
  }
}

void LocalEngine::on_joined_end(std::uint32_t node) {
  if (nodes_[node].joined) {
    ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, nodes_[node].joined.get(), nullptr);
  }
  nodes_[node].joined_ended = true;
  if (judge_at_ms_ != 0) return;  // an earlier one will end the job, or this one's wrapper tells
  judged_ = node;
  judge_at_ms_ = now_ms() + kWrapperMs;
}

// Takes in every child that has ended; one that is not a node was orphaned by a node and came to
// us.
void LocalEngine::reap() {
  struct Ended {
    std::uint32_t node;
    pid_t pid;
    int status;
  };
  std::vector<Ended> ended;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == tagger_) tagger_ = 0;
    auto found = node_of_.find(pid);
    if (found == node_of_.end()) continue;
    ended.push_back({found->second, pid, status});
    node_of_.erase(found);
  }
  if (ended.empty()) return;
  read_start_errors();
  for (const Ended& one : ended) {
    relay_->set_gone(NodeId{one.node});
    nodes_[one.node].pid = 0;
    if (running_ > 0) --running_;
    judge(one.node, one.pid, one.status);
  }
}

void LocalEngine::judge(std::uint32_t node, pid_t pid, int status) {
  const Place& place = relay_->place(NodeId{node});
  auto failed_start = std::find_if(start_errors_.begin(), start_errors_.end(),
                                   [node](const StartError& error) { return error.node == node; });
  bool wrapped = place.presence != Place::Presence::kAbsent && place.pid != pid;
  if (failed_start != start_errors_.end()) {
    consider({.node = NodeId{node},
              .pid = pid,
              .cause = Death::Cause::kNotStarted,
              .number = failed_start->error});
  } else if (place.failed) {
    consider({.node = NodeId{node},
              .pid = place.pid,
              .cause = Death::Cause::kSentence,
              .number = place.code,
              .sentence = place.sentence});
  } else if (status != 0) {
    consider(death_of(NodeId{node}, pid, status));
  } else if (wrapped && nodes_[node].joined_ended) {
    judge_wrapped(node);
  } else if (place.presence == Place::Presence::kJoined) {
    consider({.node = NodeId{node}, .pid = pid, .cause = Death::Cause::kNotLeft});
  }
}

// Of the process that joined under a wrapper and has ended. On kernels before 6.15 its exit status
// is its parent's alone.
void LocalEngine::judge_wrapped(std::uint32_t node) {
  const Place& place = relay_->place(NodeId{node});
  if (place.presence == Place::Presence::kLeft) return;
  Death death{.node = NodeId{node}, .pid = place.pid, .cause = Death::Cause::kLost};
  if (auto status = foreign_exit_status(nodes_[node].joined.get())) {
    death.cause = Death::Cause::kNotLeft;
    if (*status != 0) death = death_of(NodeId{node}, place.pid, *status);
  }
  consider(std::move(death));
}

void LocalEngine::consider(Death death) {
  if (stage_ != Stage::kRunning) return;
  if (!first_death_ || explains_more(death, *first_death_)) first_death_ = std::move(death);
}

// Ends the job for what this turn of the loop has shown, if anything.
void LocalEngine::pronounce() {
  if (stage_ != Stage::kRunning) return;
  if (first_death_) {
    const Death& death = *first_death_;
    std::uint32_t others = running_ - (nodes_[death.node.value].pid != 0 ? 1 : 0);
    bool passed_on = death.cause == Death::Cause::kSignal && death.number == last_forwarded_;
    end_job(
        exit_code_of(death),
        passed_on
            ? fmt::format("the job on {} was ended by {}, which terrane run was sent and passed on",
                          host_, signal_name(death.number))
            : describe(death, host_, others),
        0);
  } else if (auto obstacle = relay_->obstacle()) {
    end_job(kExitFailure, fmt::format("the job on {} cannot go on: {}", host_, *obstacle),
            kExchangeErrorMs);
  }
}

void LocalEngine::end_job(int exit_code, const std::string& sentence, std::uint64_t delay_ms) {
  if (stage_ != Stage::kRunning) return;
  stage_ = Stage::kEnding;
  exit_code_ = exit_code;
  base::log("{}", sentence);
  relay_->fail_exchange(sentence);
  relay_->announce_death();
  ask_at_ms_ = now_ms() + delay_ms;
  kill_at_ms_ = ask_at_ms_ + kAskMs;
}

}  // namespace terrane::tools
