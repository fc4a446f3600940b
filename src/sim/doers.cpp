#include "sim/doers.h"

#include <algorithm>
#include <variant>

namespace terrane::sim {

bool is_service(const Actor& actor) {
  return actor.doing == Actor::Doing::kYield ||
         (actor.doing == Actor::Doing::kChore &&
          std::holds_alternative<protocol::Offer>(actor.chore.what));
}

// What the thread of this operation or chore may do now.
protocol::Nesting Doers::nesting_of(const Actor& actor) const {
  if (is_service(actor)) {
    protocol::Nesting nesting;
    if (actor.below != nullptr) nesting = nesting_of(*actor.below);
    nesting.serves = true;
    return nesting;
  }
  if (actor.id >= kMaxThreads) return {};
  if (!actor.busy()) return {.holds_nothing = actor.doing == Actor::Doing::kProgram};
  if (actor.wait != Actor::Wait::kResume) return {};
  protocol::Nesting nesting;
  nesting.wait_for(*std::get<protocol::Call>(actor.strand.step()).event);
  return nesting;
}

// Whether the actor can begin a chore now: at a step, or while it waits for other nodes, but not in
// the middle of a step.
bool Doers::polls(const Actor& actor, std::uint32_t node, ActorId acting) const {
  if (actor.node != node || actor.above != nullptr || actor.wait == Actor::Wait::kWord)
    return false;
  if (actor.id == acting && schedule_.is_ready(acting)) return false;
  if (actor.id >= kMaxThreads) return actor.busy();
  return actor.id < program_->threads() && actor.next < program_->ops[actor.id].size();
}

// Whether the node's handler, or its dropper, has nothing to do.
bool Doers::is_idle(std::uint32_t node, bool dropper) const {
  for (std::size_t i = kMaxThreads; i < actors_.size(); ++i) {
    const Actor& actor = *actors_[i];
    if (actor.busy() && actor.node == node && actor.below == nullptr &&
        actor.is_dropping == dropper)
      return false;
  }
  return true;
}

bool Doers::are_many_dropping() const {
  auto drops = [](const std::unique_ptr<Actor>& actor) {
    return actor->busy() && actor->is_dropping;
  };
  auto count = static_cast<std::size_t>(std::count_if(actors_.begin(), actors_.end(), drops));
  return count > (actors_.size() - kMaxThreads) / 2;
}

Actor* Doers::begin_over(Actor* below, std::uint32_t node, Actor::Doing doing) {
  for (std::size_t i = kMaxThreads; i < actors_.size(); ++i) {
    Actor& actor = *actors_[i];
    if (actor.busy()) continue;
    actor.reset();
    actor.node = node;
    actor.doing = doing;
    schedule_.ready(actor.id);
    if (below == nullptr) return &actor;
    actor.below = below;
    below->above = &actor;
    below->ready_later = schedule_.is_ready(below->id);
    schedule_.park(below->id);
    return &actor;
  }
  return nullptr;
}

void Doers::end_chore(Actor& actor) {
  actor.clear_operation();
  schedule_.park(actor.id);
  if (actor.below == nullptr) return;
  actor.below->above = nullptr;
  if (actor.below->ready_later) schedule_.ready(actor.below->id);
  actor.below = nullptr;
}

void Doers::make_ready(Actor& actor) {
  if (actor.above != nullptr) {
    actor.ready_later = true;
  } else {
    schedule_.ready(actor.id);
  }
}

}  // namespace terrane::sim
