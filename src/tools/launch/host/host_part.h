#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/relay.h"
#include "tools/launch/guests/doorkeeper.h"
#include "tools/launch/host/children.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/host/spawn.h"
#include "tools/launch/host/vigil.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// What the host's part borrows from the process that it lives in.
struct HostSurroundings {
  Loop* loop;
  Children* children;
  HostListener* listener;
  const Inheritance* inheritance;
  // To the process above, which holds the nodes' lifelines; -1: they stay here.
  int guard = -1;
  // Descriptors that become the nodes' standard output and error; -1: those of this process.
  int output = -1, error = -1;
  // Where another launcher starts the nodes: the door at which they come in. Taken by start().
  DoorPlan* door = nullptr;
  // Children of this process that are none of the job's.
  std::function<std::vector<pid_t>()> spared;
};

// One host's part of a job: starts its nodes, or takes in those that another launcher starts,
// serves their places, sees every death at once, and leaves no process of the job behind. Owns them
// all; decides nothing about the job, but reports (HostEvent) and does what it is commanded
// (HostCommand). Lives in a process that is a subreaper.
class HostPart {
 public:
  // `plan` outlives it.
  HostPart(const HostPlan& plan, HostSurroundings around);

  // Starts the nodes. `input`: node 0's standard input, where it is on this host; empty: nothing.
  // After an error end() must have its way before this object goes.
  base::Result<> start(base::UniqueFd input);
  // Commands that are about the nodes; the others are left to the owner of this.
  void act(const HostCommand& command);
  // Every process of the host is to go, at once, and nobody needs to hear of it.
  void kill_now();

  // No process of the job is left here (it was reported, too).
  bool ended() const { return stage_ == Stage::kEnded; }

 private:
  enum class Stage { kRunning, kEnding, kSettling, kEnded };
  struct Node {
    pid_t pid = 0;          // 0: not running
    base::UniqueFd joined;  // pidfd of the process that joined, where it is not `pid` itself (a
                            // wrapper)
    bool joined_ended = false;
    bool died = false;  // that was reported
  };

  base::Result<> start_tagger();
  base::Result<> start_nodes(base::UniqueFd input);
  base::Result<> start_node(std::uint32_t node, int input, const cpu_set_t* cpus);
  void has_started(std::uint32_t node, pid_t pid);
  void report(HostEvent event) { around_.listener->on_event(plan_.host, std::move(event)); }

  void on_relay();
  void retry_if_due();
  void take_changes(const std::vector<bootstrap::Relay::Change>& changes);
  void hand_over_lifeline(NodeId node);
  void exchange();
  void end_exchange();
  void signal_nodes(int signal);
  void pass_signal(int signal);
  void end(std::uint32_t delay_ms);
  void kill_tagger();
  void settle_if_last();
  void settle();
  void kill_the_rest();
  void maybe_ended();
  std::vector<pid_t> spared() const;

  // host_part_counts.cpp
  void ask_nodes();
  void pass_answers();

  // host_part_adopted.cpp
  base::Result<> open_door();
  void on_adopted_end(NodeId node, pid_t pid, std::optional<int> status);

  // host_part_deaths.cpp
  void read_start_errors();
  void watch_joined(std::uint32_t node);
  void on_joined_end(std::uint32_t node);
  void on_node_end(std::uint32_t node, pid_t pid, int status);
  void judge(std::uint32_t node, pid_t pid, int status);
  void judge_wrapped(std::uint32_t node);
  void judge_waiting();
  void died(Death death);
  void kill_declared_dead(std::uint32_t node);
  void look_for_stopped();

  const HostPlan& plan_;
  HostSurroundings around_;
  std::string host_name_;
  std::unique_ptr<bootstrap::Relay> relay_;
  std::unique_ptr<Doorkeeper> doorkeeper_;  // where another launcher starts the nodes
  pid_t tagger_ = 0;
  base::UniqueFd start_errors_in_, start_errors_out_;
  std::vector<base::UniqueFd> tagged_;  // the nodes' ends of the pipes, while they are started

  std::vector<std::uint32_t> here_;  // the nodes of this host
  std::vector<Node> nodes_;          // by node; those of other hosts stay empty
  std::vector<StartError> start_errors_;
  std::vector<base::UniqueFd> kept_lifelines_;
  std::vector<std::uint32_t> wrapped_dead_;  // whose wrapper is given a while to end
  std::uint32_t running_ = 0;
  Stage stage_ = Stage::kRunning;
  bool paused_ = false;  // the launcher itself stopped the nodes
  Vigil stopped_;        // silent: stopped
  std::uint64_t settle_until_ms_ = 0;

  Timer retry_, ask_, kill_, give_up_, judge_, look_, settle_;
};

}  // namespace terrane::tools
