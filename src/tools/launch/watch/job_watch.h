#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/launch/hub/job.h"
#include "tools/launch/plan.h"
#include "tools/launch/watch/collector.h"
#include "tools/launch/watch/metrics_server.h"
#include "tools/launch/watch/watch_door.h"

namespace terrane::tools {

// Lets others watch a job: `terrane top`, and Prometheus where the plan says so. Asks the nodes
// when it is asked, and costs the job nothing before.
class JobWatch {
 public:
  // All outlives it.
  JobWatch(const JobPlan& plan, Loop& loop, JobOutlet& outlet);

  // The error: the address of --metrics cannot be used. A job that nobody can watch runs all the
  // same.
  base::Result<> open();
  void close() { door_.close(); }
  const std::string& metrics_url() const { return metrics_.url(); }
  // What a host has reported, after the job has checked it.
  void take(const HostEvent& event);
  // Nothing more comes from the host.
  void lose(std::uint32_t host);

 private:
  void ask_hosts();
  std::string name() const;
  JobView facts() const;

  const JobPlan& plan_;
  JobOutlet& outlet_;
  std::vector<bool> runs_;  // by node: it was started, and has not ended
  Collector collector_;
  WatchDoor door_;
  MetricsServer metrics_;
  std::uint64_t started_at_ms_;
};

}  // namespace terrane::tools
