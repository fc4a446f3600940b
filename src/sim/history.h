#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "protocol/push/push_tree.h"
#include "sim/actor.h"
#include "sim/checker.h"
#include "sim/director.h"
#include "sim/doers.h"
#include "sim/mover.h"
#include "sim/network.h"
#include "sim/node.h"
#include "sim/operations.h"
#include "sim/program.h"
#include "sim/schedule.h"
#include "sim/trace.h"
#include "sim/violation.h"

namespace terrane::sim {

struct Outcome {
  Violation violation;      // fault kNone: no rule was broken
  std::uint64_t hash = 0;   // of everything that happened
  std::uint64_t steps = 0;  // how often an actor acted
  std::uint64_t messages = 0;
  std::uint64_t accesses = 0;  // loads and stores of the program
  std::uint64_t faults = 0;

  bool failed() const { return violation.fault != Fault::kNone; }
};

// The name of an actor in traces and reasons.
std::string name_of(const Actor& actor, const Network& network);

// Runs one program under one schedule. Nodes, threads, handlers and channels take turns at random,
// each for one step or a piece of one. Owns all of them and reuses them from history to history.
class History {
 public:
  History();
  ~History();

  // `careful`: checks the invariants of a core after each of its steps, and those across nodes
  // after each message. `trace`: where to write what happens, or nullptr. `director`: decides which
  // actor acts in place of chance, or nullptr.
  Outcome run(const Program& program, std::uint64_t seed, bool careful, Trace* trace,
              Director* director = nullptr);

 private:
  friend class Operations;

  static constexpr std::uint32_t kMaxHandlers = 32;
  static constexpr std::uint64_t kMaxSteps = 500'000;
  // A schedule that always works against one thread keeps it from progress while other threads
  // repeat their loops. After so many picks the schedule is fair.
  static constexpr std::uint64_t kUnfairSteps = 100'000;
  static_assert(kMaxThreads + kMaxHandlers <= kFirstChannel);

  // history.cpp
  void begin(const Program& program, std::uint64_t seed);
  void draw_mood(base::Prng& rng);
  void loop();
  void act(Actor& actor);
  bool go_on(Actor& actor);
  void finish_operation(Actor& actor);
  void finish_check();
  void deliver(std::uint32_t channel);
  void note(const Actor& actor, std::uint64_t what);
  ActorId direct();

  // history_trace.cpp: what is written into the trace
  void trace(TraceStep step);
  void trace_of(const Actor& actor, TraceStep step);
  std::string name_of_blocks(protocol::BlockRange blocks) const;
  std::string where() const;

  // host_steps.cpp, host.cpp: what a node's runtime does for its protocol
  struct Steps;
  bool perform(Actor& actor);
  void step_core(std::uint32_t node, const protocol::Event& event);
  void send(std::uint32_t node, const protocol::Send& send);
  void resume(std::uint32_t node, const protocol::Resume& resume);
  void place(std::uint32_t node, const protocol::Place& place);
  void push(std::uint32_t from, std::uint32_t to, protocol::Bytes message,
            std::uint32_t wanted = 0);
  void wake(std::uint32_t node, const std::atomic<std::uint32_t>* word);

  // chores.cpp: what a node's threads and handler do for its machine
  struct Recalled {
    std::uint32_t node;
    protocol::Recall recall;
    bool busy;  // a thread holds the page: only the handler, which may wait, can do it
  };
  void spawn(Chore chore);
  bool spawn_waiting();
  bool start(Chore& chore);
  bool start(const Recalled& recalled);
  void finish_chore(Actor& actor);
  void finish_yield(Actor& actor);

  // exchanges.cpp: requests between nodes that cannot reach each other's memory
  bool reaches(std::uint32_t from, NodeId to) const;
  Actor& server_of(std::uint32_t channel);
  bool serve(std::uint32_t channel, protocol::Bytes message);
  void fill_grant(Actor& server, std::uint32_t channel, protocol::Bytes message);
  bool accept(std::uint32_t node, std::uint32_t from, protocol::Bytes message);
  template <typename Answer>
  void answered(std::uint32_t node, std::uint32_t from, protocol::Bytes message);
  void flushed(std::uint32_t node, protocol::Bytes message);

  // invariants.cpp: what holds across nodes
  struct Invariants;
  void check_across() const;
  void check_alone(std::uint32_t node, std::uint64_t block, bool writes) const;

  const Program* program_ = nullptr;
  base::Prng rng_{0};
  bool careful_ = false;
  Trace* trace_ = nullptr;
  Director* director_ = nullptr;
  Outcome outcome_;
  Network network_;
  Schedule schedule_;
  std::vector<Node> nodes_;
  Checker checker_;
  Mover mover_{nodes_, checker_};
  std::vector<std::unique_ptr<Actor>> actors_;  // threads, then chores from kMaxThreads on
  Doers doers_{actors_, schedule_};
  std::deque<Chore> chores_;  // chores that no actor can begin yet
  protocol::Effects effects_;
  std::vector<Recalled> recalls_;                          // recalls that no actor can begin yet
  std::unique_ptr<Actor> servers_[kMaxNodes * kMaxNodes];  // by channel: serves its oldest message
  std::uint32_t threads_at_[kMaxNodes] = {};
  std::vector<std::uint64_t> region_first_;  // first blocks; kNoRegion: not allocated yet
  std::vector<bool> region_stands_;          // the region is allocated, and not freed
  Operations operations_{*this};
  std::uint64_t focus_ = 0;  // kinds of steps after which threads sleep, a bit each (Mood::kFocus)
  std::uint32_t running_ = 0;  // threads that have not ended
  ActorId acting_ = 0;         // the actor that acted last
  std::string_view received_;  // the kind of the message that was received last

  static constexpr std::uint64_t kNoRegion = ~0ull;
};

}  // namespace terrane::sim
