#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/launch/gateways/hub_gateways.h"
#include "tools/launch/guests/introduction.h"
#include "tools/launch/host/agent.h"
#include "tools/launch/host/children.h"
#include "tools/launch/host/spawn.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/hub/beats.h"
#include "tools/launch/hub/lobby.h"
#include "tools/launch/link.h"
#include "tools/launch/output/hub_streams.h"
#include "tools/launch/plan.h"

namespace terrane::tools {

// Joins the engines of the other hosts: has them started, lets them in, hands their events on and
// the job's commands out, carries output and input, and watches over their lives. Owns the
// connections and the agents. Decides nothing about the job.
class Hub {
 public:
  // What it reports.
  struct Handlers {
    std::function<void()> on_all_present;  // every host can be asked to start
    std::function<void(const std::string&)> on_start_failed;
    std::function<void(const std::string&)> on_output_failed;
    // Returns whether the event makes sense.
    std::function<bool(std::uint32_t host, const HostEvent&)> on_event;
    std::function<void(std::uint32_t host, Death cause)> on_lost;
    // Gateways or links are lost without which clusters do not reach each other.
    std::function<void(const std::string&)> on_divided;
    std::function<void(const std::string&)> on_notice;
    // Somebody joins the running job as this host, whose name comes with it; or an objection.
    std::function<std::string(std::uint32_t host, const std::string& name)> on_joining;
  };

  // `hosts`: the other hosts of the job. `own_host`: the one that this process runs a part on; -1:
  // none.
  Hub(const JobPlan& plan, std::vector<std::uint32_t> hosts, std::int32_t own_host, Loop& loop,
      Children& children, const Inheritance& inheritance, Handlers handlers);

  // Starts the agents and waits for the hosts, in the loop: as long as the plan says, or, where
  // another launcher starts them, so long from limit_start() on.
  base::Result<> start();
  void limit_start();
  // Where it listens, from start() on.
  HubAddress address() const;
  // From start() on.
  const stream::Secret& secret() const { return *secret_; }
  // How the nodes of a host reach other clusters, once all hosts are there.
  bootstrap::GatewayRoutes routes_of(std::uint32_t host) const;
  // Sends the plan to every host, with where the others hear heartbeats; these begin.
  void send_plans();
  // Node 0's input comes from here, where node 0 is on one of the hosts.
  void carry_input(base::UniqueFd input);

  void tell(std::uint32_t host, const HostCommand& command);
  // The job has ended: lets go of every host.
  void close();
  // Nobody reads the output: what is left of it is dropped.
  void drop_output() { streams_.kill_output(); }
  // After close(): every process that it started has ended and all output is written.
  bool finished() const;
  // Its own processes, which are none of the job's.
  std::vector<pid_t> processes() const;

 private:
  struct Host {
    std::unique_ptr<Link> link;
    Introduction introduction;
    bool expected = false;  // it is one of ours
    bool lost = false;
    bool ended = false;  // it has nothing left of the job
  };

  base::Result<> open_beats();
  base::Result<> start_gateways();
  base::Result<> start_agents();
  void on_guest(std::unique_ptr<Link> link, const Introduction& guest);
  void on_joining(std::unique_ptr<Link> link, const Introduction& guest);
  void refuse(std::unique_ptr<Link> link, const std::string& sentence);
  void take_host(std::uint32_t host, std::unique_ptr<Link> link, const Introduction& guest);
  bool is_remote(std::uint32_t host) const;
  void on_closed(std::uint32_t host, const std::string& why);
  bool on_frame(std::uint32_t host, std::span<const std::byte> frame);
  void all_present();
  HostPlan plan_for(std::uint32_t host) const;
  void close_gateways();
  void on_agent_end(std::size_t agent, int status);
  void start_failed(const std::string& sentence);
  void tick();
  void lose(std::uint32_t host, Death cause);
  std::string missing() const;
  bool agents_have_ended() const;

  const JobPlan& plan_;
  std::vector<std::uint32_t> remote_;
  std::int32_t own_host_;
  Loop& loop_;
  Children& children_;
  const Inheritance& inheritance_;
  Handlers handlers_;
  std::optional<stream::Secret> secret_;
  std::vector<Host> hosts_;  // by index in the map
  std::vector<PeerAddress> peers_;
  // Guests that came before the job had started; and links to those that were refused, which must
  // not end in their own handlers.
  std::vector<std::pair<std::unique_ptr<Link>, Introduction>> early_;
  std::vector<std::unique_ptr<Link>> refused_;
  std::optional<Lobby> lobby_;
  std::optional<HubGateways> gateways_;  // where the job has some
  std::optional<Beats> beats_;           // where this process runs a part
  HubStreams streams_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::uint32_t present_ = 0;
  bool starting_ = true, closed_ = false;
  std::string stranger_;  // the last complaint about a guest that could not be let in
  Vigil vigil_;
  Timer start_timeout_, tick_, kill_agents_, kill_gateways_;
  bool gateways_closed_ = false;
};

}  // namespace terrane::tools
