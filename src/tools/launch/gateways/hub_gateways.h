#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/job_map.h"
#include "stream/secret.h"
#include "tools/launch/guests/introduction.h"
#include "tools/launch/host/agent.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/link.h"
#include "tools/launch/loop.h"
#include "tools/launch/output/stream_bridge.h"
#include "tools/launch/plan.h"
#include "transport/routed/end.h"

namespace terrane::tools {

// The gateways of a job, as the hub sees them: has them started, watches over them, and carries the
// streams of engines that only gateways reach. First come those of the hub's own cluster, then the
// others, which dial the first ones. Owns the connections and the agents.
class HubGateways {
 public:
  struct Handlers {
    std::function<void()> on_all_present;  // engines of every cluster can be started
    std::function<void(const std::string&)> on_start_failed;
    std::function<void(const std::string&)> on_lost;  // clusters are no longer joined
    std::function<void(const std::string&)> on_notice;
    // An engine or a gateway of another cluster has begun a stream to the hub.
    std::function<void(base::UniqueFd)> on_visitor;
  };

  HubGateways(const JobPlan& plan, const stream::Secret& secret, Loop& loop, Children& children,
              const Inheritance& inheritance, Handlers handlers);
  ~HubGateways();

  base::Result<> start(const HubAddress& hub);
  // Why one that introduces itself cannot be taken; empty: it can.
  std::string objection(const Introduction& gateway) const;
  void take(std::unique_ptr<Link> link, const Introduction& gateway);

  // Whether the hub reaches the host directly.
  bool is_direct(std::uint32_t host) const;
  // Where the engines and nodes of the host find the gateways of their cluster.
  std::vector<bootstrap::GatewayDoor> doors_of(std::uint32_t host) const;
  // The same with the key of the nodes.
  bootstrap::GatewayRoutes routes_of(std::uint32_t host) const;

  // Those that have not come: a list of names for a sentence; empty: all are there.
  std::string missing() const;
  // The job has ended: lets go of every gateway.
  void close();
  void kill_agents();
  bool finished() const;
  std::vector<pid_t> processes() const;

 private:
  struct Gateway {
    const GatewayPlan* plan = nullptr;
    std::unique_ptr<Link> link;
    bootstrap::GatewayDoor inner, link_door;
    std::unique_ptr<Agent> agent;
    bool carries = false, lost = false;
  };
  class Network;

  base::Result<> start_cluster(std::uint32_t cluster);
  std::vector<bootstrap::GatewayDoor> doors_for(std::uint32_t cluster) const;
  bool is_present(const Gateway& gateway) const;
  bool all_present(std::optional<std::uint32_t> cluster) const;
  void on_change();
  void take_frames(std::unique_ptr<Link> link, Gateway& gateway);
  bool on_frame(std::size_t number, std::span<const std::byte> frame);
  void take_last_words(const std::string& text);
  void on_link(std::size_t number, const std::string& other, bool is_up, const std::string& why);
  void lose(std::size_t number, const std::string& why);
  void lose_unconnected(const Gateway& gateway, const std::string& why);
  void judge(const std::string& sentence);
  bool joins_all() const;
  void on_agent_end(std::size_t number, int status);
  void tick();
  void close_own();
  void let_go();
  std::string title(const Gateway& gateway) const;
  const Gateway* find(const std::string& name) const;

  const JobPlan& plan_;
  const stream::Secret& secret_;
  Loop& loop_;
  Children& children_;
  const Inheritance& inheritance_;
  Handlers handlers_;
  HubAddress hub_;
  std::uint32_t own_cluster_ = 0;
  std::vector<std::uint32_t> waiting_clusters_;  // whose gateways are not started yet
  std::uint32_t last_cluster_ = 0;               // whose were started last
  std::uint64_t window_;
  std::vector<Gateway> gateways_;
  std::set<std::pair<std::string, std::string>> links_;  // pairs of names, in order
  std::unique_ptr<Network> network_;
  std::vector<std::unique_ptr<Link>> parked_;  // their sockets went elsewhere
  Vigil vigil_;
  Timer tick_, close_own_, let_go_;
  std::size_t last_words_ = 0;  // of gateways that have yet to say what they have carried
  std::uint64_t close_own_at_ms_ = 0;
  bool starting_ = true, closed_ = false;
};

// The secret of nodes and gateways, made of the job's.
stream::Secret gateway_secret(const stream::Secret& job);

}  // namespace terrane::tools
