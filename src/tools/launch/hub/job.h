#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/history.h"
#include "tools/launch/host/host_messages.h"
#include "tools/launch/hub/death.h"
#include "tools/launch/hub/exchange_state.h"
#include "tools/launch/loop.h"
#include "tools/launch/plan.h"

namespace terrane::tools {

// Where a job's decisions go.
class JobOutlet {
 public:
  virtual ~JobOutlet() = default;
  virtual void tell(std::uint32_t host, const HostCommand& command) = 0;
  // A line for the user.
  virtual void say(const std::string& line) = 0;
};

// Decides what becomes of a job: merges the nodes' cards, chooses the first failure, and ends what
// runs on every host. Knows hosts by what they report (HostEvent) alone. Guarantees that end() is
// called once, that the user reads one sentence for it, and that exit_code() is the first
// failure's.
class Job {
 public:
  // Everything outlives it.
  Job(const JobPlan& plan, Loop& loop, JobOutlet& outlet);

  // The hosts have been asked to start.
  void started();
  // False: the event makes no sense (of a node that is not the host's); nothing was done.
  bool on_event(std::uint32_t host, const HostEvent& event);
  // The user, or somebody for the user, sent the launcher a signal.
  void on_signal(int signal);
  // Somebody has come who joins the running job, and takes part as this host from now on.
  void guest_came(std::uint32_t host);
  // Why nobody can join any more; empty: somebody can.
  std::string objection() const;
  // Nothing can be heard of a host any more, or nothing that makes sense. For each of its nodes
  // that should run, `cause` is the death; where none does, the host has just ended.
  void host_lost(std::uint32_t host, Death cause);
  // The job cannot be started, or cannot go on.
  void fail(int exit_code, const std::string& sentence) { end(exit_code, sentence, 0); }
  // Every host is to kill its part at once.
  void kill(int exit_code);

  // No host has anything left of the job.
  bool ended() const { return hosts_running_ == 0; }
  bool all_nodes_ended() const;
  bool has_joined(NodeId node) const { return nodes_[node.value].joined; }
  bool all_started_have_ended() const;
  bool is_ending() const { return stage_ != Stage::kRunning; }
  int exit_code() const { return exit_code_; }

 private:
  enum class Stage { kRunning, kEnding };
  struct Node {
    bool started = false, joined = false, left = false, ended = false;
    bool member = false;  // the others know it, and it has not gone
    std::optional<std::vector<std::byte>> card;
  };

  bool belongs(std::uint32_t host, NodeId node) const;
  void tell_of_start(std::uint32_t node, std::int32_t pid);
  void tell_all(const HostCommand& command);
  void host_ended(std::uint32_t host);
  void node_ended(std::uint32_t node);
  void take_card(std::uint32_t node, const std::vector<std::byte>& bytes);
  bool is_guest(std::uint32_t node) const { return node >= plan_.program.map.started(); }
  void merge_cards();
  void consider(Death death);
  void survive(const Death& death);
  void judge_soon();
  void exchanged();
  void tell_of_absence();
  void pronounce();
  void end(int exit_code, const std::string& sentence, std::uint32_t delay_ms);
  void kill_for(int signal, const std::string& why);
  std::string describe_death(const Death& death) const;
  // job_guests.cpp
  void next_guest();
  void guest_wants_in(std::uint32_t node);
  void node_admits(std::uint32_t node, std::uint32_t guest);
  void let_guest_in();
  void guest_is_inside(std::uint32_t node);
  void after_guest();
  void member_gone(std::uint32_t node);
  void guest_gives_up(std::uint32_t node);
  void tell_gone(std::uint32_t node);
  void note_gone(std::uint32_t node);
  void guest_goes(std::uint32_t host, std::uint32_t node);
  void close_to_guests();
  void tell_closed();
  const std::string& host_name(std::uint32_t node) const { return plan_.program.map.name_of(node); }

  const JobPlan& plan_;
  JobOutlet& outlet_;
  std::string place_;  // where it runs, for sentences
  std::vector<Node> nodes_;
  std::vector<bool> host_running_;
  std::uint32_t hosts_running_;
  std::uint32_t running_ = 0, joined_ = 0, cards_ = 0;
  ExchangeState exchange_;
  Stage stage_ = Stage::kRunning;
  std::optional<Death> first_death_;  // of those that came to light together, what explains most
  int exit_code_ = 0;
  int last_signal_ = 0;
  std::uint64_t started_at_ms_ = 0;
  Timer verdict_, timeout_, grace_, absence_;
  int grace_signal_ = 0;
  // One guest joins at a time: it gets the cards of all members, and compares. It wants in: all
  // members hear of it. When all know it it is let in, and is a member when it says that it has
  // heard so: until then it has done nothing that its death could undo.
  std::deque<std::uint32_t> waiting_guests_;
  std::optional<std::uint32_t> entering_;
  enum class Entry { kCompares, kIntroduced, kLetIn };
  Entry entry_ = Entry::kCompares;
  std::vector<std::uint32_t> unknowing_;  // members that are still to say that they know it
  bootstrap::History history_;
  bool together_ = false;  // those that the job started with have exchanged their cards
  bool closing_ = false, closed_ = false;
};

}  // namespace terrane::tools
