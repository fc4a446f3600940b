#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "forecast/job.h"
#include "forecast/threads.h"
#include "protocol/serve/server.h"

namespace terrane::forecast {

// A job of many nodes in virtual time, each on a host of its own: the protocol's own machines and
// operations. Every step takes effect at a moment, and the actor goes on after what the step costs.
// One thread of one process plays all. A thread of the program computes, and performs steps, while
// it has a processor of its node; what a node does for others is done by a handler, which has a
// processor of its own.
class Machine {
 public:
  // `program` and `observer`, which may be nullptr, outlive it.
  Machine(Program& program, const Setup& setup, Observer* observer = nullptr);
  ~Machine();

  // Once.
  Forecast run();
  // For a Program or Observer that is called by run().
  Ns now() const { return job_.now(); }
  const Tally& tally(std::uint32_t node) const { return job_.nodes[node]->tally; }
  // Pages of which the node knows a home.
  std::uint64_t known(std::uint32_t node) const;

 private:
  class HostSteps;

  // As waiting::kTurnNs and kWatchTurnsNs: how long a turn lasts, and how often the handler looks.
  static constexpr Ns kTurnNs = 50'000;
  static constexpr Ns kWatchTurnsNs = 1'000'000;

  void make_node(std::uint32_t self);
  void play();
  void arrive(std::uint64_t number);
  void handle(std::uint64_t number);
  void step_core(std::uint32_t self, const protocol::Event& event);
  void carry_out(std::uint32_t self, const protocol::Effects& effects);
  void resume(std::uint32_t self, const protocol::Resume& resumed);
  void wake(Actor& actor);
  void act(Actor& actor);
  std::optional<double> perform(Actor& actor);
  bool end_lost_wait();
  Forecast result(Ns total);

  // allocation.cpp: the program's regions
  void allocate(std::uint32_t self);
  void finish_allocation(std::uint32_t self);

  // chores.cpp: what the machine of a node wants done
  void make_offer(std::uint32_t self, const protocol::Offer& offer);
  void extend_turn(std::uint32_t self, LockId lock, bool asked);
  void look_at_turns(std::uint32_t self);
  void end_turns(std::uint32_t self, Ns lasted);
  void end_turns_beside(std::uint32_t self, const protocol::Event& event);
  void begin_chore(Actor& actor);
  void finish_chore(Actor& actor);

  // serving.cpp: what a node does for others
  template <typename T>
  T run_at_once(Actor& actor, protocol::Task<T> task, double* cost = nullptr);
  void serve(const Message& message);
  void add_granted(std::uint32_t self, const protocol::Send& send, std::vector<std::byte>& grant);
  template <typename Answer>
  void answered(const Message& message);
  void flushed(const Message& answer);

  Job job_;
  Threads threads_;
  protocol::Effects effects_;
  bool in_message_ = false;  // a core steps because of a message
  std::uint64_t lost_signals_ = 0;
};

}  // namespace terrane::forecast
