#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/relay.h"
#include "tools/launch/death.h"
#include "tools/launch/plan.h"
#include "tools/launch/spawn.h"
#include "tools/launch/tagged_output.h"

namespace terrane::tools {

// Runs one job: starts the nodes, relays their cards, forwards signals, sees every death at once
// and ends the others, and leaves no process behind. Owns every process of the job; lives in a
// process of its own, a subreaper, below the process that the user started (see front.h).
class LocalEngine {
 public:
  // `front`: the socket to the process that the user started; signals come from it, and its end
  // ends the job. `input`: node 0's standard input.
  LocalEngine(const JobPlan& plan, const Inheritance& inheritance, base::UniqueFd front,
              base::UniqueFd input);

  // Returns the job's exit code once every process of the job has ended.
  int run();

 private:
  enum class Stage { kRunning, kEnding, kEnded };
  // What an event of the loop is about: these, or the node whose joined process ended, counted from
  // kFirstNode.
  enum Source : std::uint64_t { kFront, kSignals, kRelay, kStartErrors, kFirstNode };
  struct Node {
    pid_t pid = 0;  // 0: not running
    base::UniqueFd
        joined;  // pidfd of the process that joined, where it is not `pid` itself (a wrapper)
    bool joined_ended = false;
  };

  base::Result<> start();
  base::Result<> watch_all();
  base::Result<> start_nodes();
  void settle();

  bool watch(int fd, std::uint64_t source);
  void wait();
  int next_timeout_ms() const;
  void on_time();
  void on_front();
  void on_signals();
  void on_relay();
  void hand_over_lifeline(NodeId node);
  void signal_nodes(int signal);
  void kill_now();

  // local_engine_deaths.cpp
  void read_start_errors();
  void watch_joined(std::uint32_t node);
  void on_joined_end(std::uint32_t node);
  void reap();
  void judge(std::uint32_t node, pid_t pid, int status);
  void judge_wrapped(std::uint32_t node);
  void consider(Death death);
  void pronounce();
  void end_job(int exit_code, const std::string& sentence, std::uint64_t delay_ms);

  const JobPlan& plan_;
  const Inheritance& inheritance_;
  base::UniqueFd front_;
  base::UniqueFd input_;
  std::string host_;
  std::unique_ptr<bootstrap::Relay> relay_;
  std::optional<TaggedOutput> tagged_;
  pid_t tagger_ = 0;
  base::UniqueFd events_, signals_, start_errors_in_, start_errors_out_;

  std::vector<Node> nodes_;
  std::unordered_map<pid_t, std::uint32_t> node_of_;
  std::vector<StartError> start_errors_;
  std::vector<base::UniqueFd> kept_lifelines_;
  std::uint32_t running_ = 0;
  std::uint32_t joined_ = 0;
  Stage stage_ = Stage::kRunning;
  std::optional<Death> first_death_;  // of this turn of the loop, the one that explains most
  int exit_code_ = 0;
  int last_forwarded_ = 0;
  std::uint64_t started_at_ms_ = 0;

  // When to act; 0: never.
  std::uint64_t timeout_at_ms_ = 0;
  std::uint64_t ask_at_ms_ = 0;   // SIGTERM
  std::uint64_t kill_at_ms_ = 0;  // SIGKILL
  std::uint64_t give_up_at_ms_ = 0;
  std::uint64_t judge_at_ms_ = 0;  // of `judged_`, whose joined process ended under a wrapper
  std::uint32_t judged_ = 0;
};

}  // namespace terrane::tools
