#include "tools/launch/watch/job_watch.h"

#include <unistd.h>

namespace terrane::tools {

JobWatch::JobWatch(const JobPlan& plan, Loop& loop, JobOutlet& outlet)
    : plan_(plan),
      outlet_(outlet),
      runs_(plan.program.map.nodes()),
      collector_(
          loop, plan.program.map.nodes(),
          {.ask_hosts = [this] { ask_hosts(); },
           .runs = [this](NodeId node) { return runs_[node.value]; },
           .facts = [this] { return facts(); },
           .host_of = [this](NodeId node) { return plan_.program.map.name_of(node.value); }}),
      door_(loop, collector_),
      metrics_(loop, collector_),
      started_at_ms_(now_ms()) {}

void JobWatch::take(const HostEvent& event) {
  if (const auto* started = std::get_if<event::NodeStarted>(&event))
    runs_[started->node.value] = true;
  if (const auto* ended = std::get_if<event::NodeEnded>(&event)) runs_[ended->node.value] = false;
  if (const auto* left = std::get_if<event::NodeLeftAlone>(&event)) runs_[left->node.value] = false;
  collector_.take(event);
}

void JobWatch::lose(std::uint32_t host) {
  for (std::uint32_t node = 0; node < runs_.size(); ++node)
    if (plan_.program.map.host_of[node] == host) runs_[node] = false;
}

// Those with nodes that run: the others do not know their plan yet, or have ended.
void JobWatch::ask_hosts() {
  std::vector<bool> has_nodes(plan_.program.map.names.size());
  for (std::uint32_t node = 0; node < runs_.size(); ++node)
    if (runs_[node]) has_nodes[plan_.program.map.host_of[node]] = true;
  for (std::uint32_t host = 0; host < has_nodes.size(); ++host)
    if (has_nodes[host]) outlet_.tell(host, command::Ask{});
}

base::Result<> JobWatch::open() {
  if (plan_.metrics.is_set)
    if (auto opened = metrics_.open(plan_.metrics); !opened) return opened;
  door_.open(name(), std::to_string(::getppid()));
  return {};
}

// Jobs that other launchers start have none of their own.
std::string JobWatch::name() const {
  const std::string& own = plan_.program.job_name;
  return own.empty() ? std::to_string(::getppid()) : own;
}

// The process that the user started is the engine's guard, above it.
JobView JobWatch::facts() const {
  return {.job = name(),
          .program = plan_.program.argv.empty() ? "" : plan_.program.argv[0],
          .file = plan_.program.program.empty() ? plan_.program.path : plan_.program.program,
          .process = ::getppid(),
          .age_ms = now_ms() - started_at_ms_,
          .places = plan_.program.map.started(),
          .nodes = {}};
}

}  // namespace terrane::tools
