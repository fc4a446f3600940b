#pragma once

#include <memory>
#include <vector>

#include "base/prng.h"
#include "protocol/steps/nesting.h"
#include "sim/actor.h"
#include "sim/program.h"
#include "sim/schedule.h"

namespace terrane::sim {

// Whether it is an offer, or a page that is given back: a thread does it in the middle of any
// operation, with the memory of that one, and so asks nobody for anything.
bool is_service(const Actor& actor);

// Who does what a node's machine wants: the node's dropper, which drops copies and freed regions,
// or its handler, each one thing after the other, or a thread in the middle of its own operation,
// which pauses. The rules are the runtime's (Engine::serve, Engine::run_chores). The actors from
// kMaxThreads on are such chores.
class Doers {
 public:
  Doers(const std::vector<std::unique_ptr<Actor>>& actors, Schedule& schedule)
      : actors_(actors), schedule_(schedule) {}

  // Of a history. spare: the node has a thread to spare for each chore, and none pauses.
  void begin(const Program& program, base::Prng& random, bool spare) {
    program_ = &program;
    random_ = &random;
    spare_ = spare;
  }
  // Begins a chore of that node, by its handler or by one of its threads that can do it now;
  // nullptr: none can. acting: the actor that is in the middle of a step. may(nesting): whether a
  // thread can.
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
  // The same for the dropper.
  Actor* begin_drop(std::uint32_t node) {
    if (!spare_ && !is_idle(node, true)) return nullptr;
    Actor* actor = begin_over(nullptr, node, Actor::Doing::kChore);
    if (actor != nullptr) actor->is_dropping = true;
    return actor;
  }
  void end_chore(Actor& actor);
  // It can act, now or when what its thread does in the middle of it is over.
  void make_ready(Actor& actor);

 private:
  bool is_idle(std::uint32_t node, bool dropper) const;
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
