#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tools/launch/guests/introduction.h"
#include "tools/launch/host/children.h"
#include "tools/launch/host/guard.h"
#include "tools/launch/host/guard_link.h"
#include "tools/launch/host/host_engine.h"
#include "tools/launch/host/host_part.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/link.h"

namespace terrane::tools {

// An engine whose hub is elsewhere: does as the hub tells, reports to it, and ends its part of the
// job when it is alone. Owns the part and the connection. HostEngine and GuestEngine say which part
// of the job that is.
class RemoteEngine : protected HostListener {
 public:
  // `door`: where another launcher starts the nodes; else nullptr.
  RemoteEngine(const HostEngineOptions& options, const stream::Secret& secret, Loop& loop,
               EngineSide side, DoorPlan* door);

  // Reaches the hub.
  base::Result<> open();
  // After open(): until nothing is left to do. The process's exit code.
  int run();

 protected:
  // Fills in what the hub has to know of this engine.
  virtual base::Result<> introduce(Introduction& ours) = 0;
  // The hub's plan has come: what this engine has to say about it.
  virtual void adapt(HostPlan&) {}
  // Calls start_nodes().
  virtual base::Result<> start_part() = 0;
  // A command that is not about the connection.
  virtual void obey(const HostCommand& command) = 0;
  virtual void on_signal(int signal) = 0;
  // Its part cannot be run.
  virtual void fail(int exit_code, const std::string& sentence);
  virtual void on_link_closed(const std::string&) {}
  // Nobody is left to report to.
  virtual void on_alone() = 0;
  virtual int exit_code() const = 0;

  base::Result<> start_nodes(HostSurroundings around, base::UniqueFd input);
  void report(const HostEvent& event);
  void be_alone();
  // Its part has ended, and the hub knows it.
  bool let_go() const { return let_go_; }

  const HostEngineOptions& options_;
  Loop& loop_;
  base::UniqueFd input_;
  GuardLink guard_;
  std::unique_ptr<EngineBridge> bridge_;  // where gateways are between the hub and this host
  std::unique_ptr<Link> link_;
  HostPlan plan_;
  std::optional<HostPart> part_;
  DoorPlan* door_;

 private:
  base::Result<> dial(const Introduction& ours);
  base::Result<base::UniqueFd> reach_hub();
  bool finished() const { return alone_ && (!part_ || part_->ended()); }
  bool on_frame(std::span<const std::byte> frame);
  bool begin(const HostPlan& plan);
  void give_up(int exit_code, const std::string& sentence);
  void guard_stopped();
  void tick();

  stream::Secret secret_;
  const Inheritance& inheritance_;
  Children children_;
  Vigil vigil_;
  Timer tick_;
  bool alone_ = false;
  bool let_go_ = false;
};

// Makes the engine below a guard, and runs it. `answer` hears whether it has reached the hub. The
// process's exit code.
using MakeEngine = std::function<std::unique_ptr<RemoteEngine>(Loop& loop, EngineSide side)>;
int run_guarded_engine(const HostEngineOptions& options, bool passes_input,
                       const AdoptionAnswer& answer, const MakeEngine& make);
// The answer of engines that nobody waits for: what went wrong is said.
void say_failure(const base::Result<HubAddress>& opened);

}  // namespace terrane::tools
