#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "sim/director.h"
#include "sim/script/script.h"
#include "sim/trace.h"

namespace terrane::sim {

// Runs the statements of a script one after the other: first the messages, then the handlers, then
// the threads of the statement act, until none of them can. In a parallel section chance decides.
class ScriptDirector : public Director {
 public:
  // `order`: which order of the parallel sections, from 1. `trace` is the history's.
  ScriptDirector(const Script& script, std::uint64_t order, const Trace& trace);

  ActorId pick(const Scene& scene) override;

  // The line of the statement under way, from 1.
  std::uint32_t line() const;
  // The error text if a statement could not be followed; otherwise empty.
  const std::string& error() const { return error_; }
  // The steps of the trace that the statement caused: the first, and the one after the last.
  std::pair<std::size_t, std::size_t> steps_of(std::size_t statement) const;

 private:
  static constexpr std::uint32_t kIdlePicks = 256;     // picks in a row that complete no step
  static constexpr std::uint32_t kMostPicks = 50'000;  // picks for one statement

  bool may_act(const Scene& scene, ActorId id);
  bool is_stopped(const Actor& actor) const;
  bool is_stuck(const Scene& scene);
  ActorId choose(const Scene& scene);
  ActorId choose_thread(const std::vector<ActorId>& threads);
  bool begin_next(const Scene& scene);
  void begin(const Statement& statement, const Scene& scene);

  const Script& script_;
  const Trace& trace_;
  base::Prng rng_;
  std::size_t next_ = 0;                 // the first statement that has not begun
  std::vector<std::size_t> starts_;      // by statement that has begun: its first step in the trace
  std::vector<std::uint32_t> released_;  // by thread: operations that may begin
  std::vector<std::string> stops_;       // by thread: the kind of step before which it stops
  std::vector<bool> held_;               // by channel
  bool parallel_ = false;
  ActorId last_thread_ = 0;
  std::uint64_t last_hash_ = 0;
  std::uint32_t idle_ = 0;
  std::uint32_t picks_ = 0;
  std::string error_;
};

}  // namespace terrane::sim
