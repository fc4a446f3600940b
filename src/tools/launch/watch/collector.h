#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/loop.h"
#include "tools/launch/watch/job_view.h"

namespace terrane::tools {

// Asks all nodes of a job what they have counted, when somebody wants to know, and makes one view
// of the answers. Does nothing else. A node that does not answer in time is in the view without
// counters.
class Collector {
 public:
  struct Surroundings {
    std::function<void()> ask_hosts;
    std::function<bool(NodeId)> runs;  // a node whose answer is waited for
    std::function<JobView()> facts;    // a view without nodes
    std::function<std::string(NodeId)> host_of;
  };
  using Done = std::function<void(const JobView&)>;

  Collector(Loop& loop, std::uint32_t places, Surroundings around);

  // Calls `done` with the next view, within kPatienceMs. Views that are wanted at the same time
  // are one, and within kFreshMs they are the same.
  void ask(Done done);
  // What the hosts report; other events are passed over.
  void take(const HostEvent& event);

  static constexpr std::uint64_t kPatienceMs = 500, kFreshMs = 100;

 private:
  struct Node {
    std::optional<event::NodeUse> use;
    std::uint32_t answers = 0, of = 1;
    std::optional<bootstrap::NodeSnapshot> snapshot;
    bool is_complete() const { return use && (!use->answers || answers >= of); }
  };

  void finish_if_complete();
  void finish();

  Surroundings around_;
  std::vector<Node> nodes_;
  std::vector<Done> waiting_;
  JobView latest_;
  std::uint64_t latest_at_ms_ = 0;  // 0: there is none
  Timer patience_, soon_;
};

}  // namespace terrane::tools
