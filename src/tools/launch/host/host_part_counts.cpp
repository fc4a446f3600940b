// The part of a host that tells what its nodes have counted, for those who watch the job.
#include <algorithm>

#include "tools/launch/host/host_part.h"
#include "tools/launch/host/process_use.h"

namespace terrane::tools {

void HostPart::ask_nodes() {
  if (!relay_) return;
  std::vector<NodeId> absent = relay_->ask();
  for (std::uint32_t node : here_) {
    if (nodes_[node].pid == 0) continue;
    pid_t joined = relay_->place(NodeId{node}).pid;
    ProcessUse use = process_use(joined != 0 ? joined : nodes_[node].pid);
    bool answers = std::find(absent.begin(), absent.end(), NodeId{node}) == absent.end();
    report(event::NodeUse{NodeId{node}, answers, use.at_ns, use.processor_ns, use.resident_bytes});
  }
}

void HostPart::pass_answers() {
  for (bootstrap::Relay::Answer& answer : relay_->take_answers())
    report(event::NodeAnswer{answer.node, answer.of, std::move(answer.snapshot)});
}

}  // namespace terrane::tools
