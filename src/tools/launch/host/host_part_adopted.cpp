// The part of a host whose nodes another launcher starts.

#include <signal.h>
#include <sys/wait.h>

#include "tools/launch/host/host_part.h"

namespace terrane::tools {

base::Result<> HostPart::open_door() {
  doorkeeper_ = std::make_unique<Doorkeeper>(
      *around_.loop, std::move(*around_.door), here_,
      Doorkeeper::Handlers{
          .place = [this](NodeId node) { return relay_->open_place(node); },
          .came = [this](NodeId node, pid_t pid) { has_started(node.value, pid); },
          .ended = [this](NodeId node, pid_t pid,
                          std::optional<int> status) { on_adopted_end(node, pid, status); },
          .failed =
              [this](const std::string& why) {
                report(event::Failed{why, 1});
              }});
  return doorkeeper_->open();
}

// What ends by SIGTERM was most often sent it by its launcher, after another one's end: that one's
// end explains more.
void HostPart::on_adopted_end(NodeId node, pid_t pid, std::optional<int> status) {
  bool terminated = status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM;
  if (status && !terminated) return on_node_end(node.value, pid, *status);
  std::vector<bootstrap::Relay::Change> changes;
  relay_->set_gone(node, changes);
  take_changes(changes);
  nodes_[node.value].pid = 0;
  --running_;
  if (relay_->place(node).presence != bootstrap::Place::Presence::kLeft) {
    died({.node = node,
          .pid = pid,
          .cause = Death::Cause::kLost,
          .sentence = terminated ? "was killed by SIGTERM (signal 15), by its launcher or somebody "
                                   "else"
                                 : "ended without leaving the job; the launcher that started it "
                                   "says how"});
  }
  report(event::NodeEnded{node});
  settle_if_last();
}

}  // namespace terrane::tools
