#pragma once

#include <memory>
#include <vector>

#include "base/prng.h"
#include "protocol/steps/nesting.h"
#include "sim/actor.h"
#include "sim/program.h"
#include "sim/schedule.h"

namespace terrane::sim {

// Whether the actor makes an offer or gives a page back. A thread does this in the middle of any
// operation and uses that operation's memory, so it may not send requests to other nodes.
bool is_service(const Actor& actor);

// Decides which actor performs a chore that a node's machine wants. The node's dropper drops copies
// and freed regions, its handler does the rest, each one thing after the other. A thread can also
// perform a chore in the middle of its own operation, which pauses. The rules are the runtime's
// (Engine::serve, Engine::run_chores). The actors from kMaxThreads on are such chores.
class Doers {
 public:
  Doers(const std::vector<std::unique_ptr<Actor>>& actors, Schedule& schedule)
      : actors_(actors), schedule_(schedule) {}

  // Begins a history. `spare`: the node has a spare thread for each chore, and no operation pauses.
  void begin(const Program& program, base::Prng& random, bool spare) {
    program_ = &program;
    random_ = &random;
    spare_ = spare;
  }
  // Begins a chore of that node, by its handler or by one of its threads that can do it now.
  // Returns nullptr if none can. `acting`: the actor that is in the middle of a step. may(nesting):
  // whether a thread in this state may do it.
  template <typename May>
  Actor* begin_chore(std::uint32_t node, Actor::Doing doing, ActorId acting, May may) {
    if (spare_) return begin_over(nullptr, node, doing);
    Actor* threads[kFirstChannel];
    std::uint32_t count = 0;
    if (is_idle(node, false)) threads[count++] = nullptr;
    for (auto& actor : actors_)
      if (polls(*actor, node, acting) && may(nesting_of(*actor))) threads[count++] = actor.get();
    if (count == 0) return nullptr;
    return begin_over(threads[random_->below(count)], node, doing);
  }
  // Begins a chore of the node's dropper. Returns nullptr if the dropper is busy. Where a node has
  // several, they leave actors for the offers that they wait for.
  Actor* begin_drop(std::uint32_t node) {
    if (spare_ ? are_many_dropping() : !is_idle(node, true)) return nullptr;
    Actor* actor = begin_over(nullptr, node, Actor::Doing::kChore);
    if (actor != nullptr) actor->is_dropping = true;
    return actor;
  }
  void end_chore(Actor& actor);
  // Lets the actor act: now, or when the chore that its thread performs in the middle of it ends.
  void make_ready(Actor& actor);

 private:
  bool is_idle(std::uint32_t node, bool dropper) const;
  bool are_many_dropping() const;
  bool polls(const Actor& actor, std::uint32_t node, ActorId acting) const;
  protocol::Nesting nesting_of(const Actor& actor) const;
  Actor* begin_over(Actor* below, std::uint32_t node, Actor::Doing doing);

  const std::vector<std::unique_ptr<Actor>>& actors_;
  Schedule& schedule_;
  const Program* program_ = nullptr;
  base::Prng* random_ = nullptr;
  bool spare_ = true;
};

}  // namespace terrane::sim
