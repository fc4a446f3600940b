#include "sim/history.h"

// Chores and recalls: what the machine of a node (Core) wants done on that node.
namespace terrane::sim {

// Begins the chore now, or later when an actor can. finish_chore() notifies the core.
void History::spawn(Chore chore) {
  if (!start(chore)) chores_.push_back(std::move(chore));
}

bool History::start(Chore& chore) {
  bool offers = std::holds_alternative<protocol::Offer>(chore.what);
  bool releases = std::holds_alternative<protocol::ReleaseKept>(chore.what) ||
                  std::holds_alternative<protocol::TurnExtended>(chore.what) ||
                  std::holds_alternative<protocol::Recall>(chore.what);
  auto may = [=](protocol::Nesting nesting) {
    return (offers && nesting.may_serve()) || (releases && nesting.may_release());
  };
  Actor* actor = !offers && !releases
                     ? doers_.begin_drop(chore.node)
                     : doers_.begin_chore(chore.node, Actor::Doing::kChore, acting_, may);
  if (actor == nullptr) return false;
  actor->chore = std::move(chore);
  protocol::Hlrc& hlrc = nodes_[actor->node].hlrc();
  if (const auto* drop = std::get_if<protocol::Drop>(&actor->chore.what)) {
    actor->start(hlrc.drop(actor->strand, drop->region, drop->blocks));
  } else if (const auto* offer = std::get_if<protocol::Offer>(&actor->chore.what)) {
    actor->start(hlrc.offer_asked(actor->strand, *offer));
  } else if (const auto* adopt = std::get_if<protocol::Adopt>(&actor->chore.what)) {
    actor->start(hlrc.adopt(actor->strand, *adopt));
  } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&actor->chore.what)) {
    actor->start(hlrc.release_kept(actor->strand, *kept));
  } else if (const auto* turn = std::get_if<protocol::TurnExtended>(&actor->chore.what)) {
    actor->start(hlrc.end_turn(actor->strand, turn->lock));
  } else if (const auto* recall = std::get_if<protocol::Recall>(&actor->chore.what)) {
    actor->start(nodes_[actor->node].sc().yield_synchronised(actor->strand, *recall));
  } else {
    const auto& expire = std::get<protocol::Expire>(actor->chore.what);
    actor->start(hlrc.expire(actor->strand, expire.origin, actor->chore.ranges, expire.home));
  }
  return true;
}

// A thread of the program does not wait for the thread that holds the page. It leaves the recall to
// the handler thread, which waits.
bool History::start(const Recalled& recalled) {
  Actor* actor = doers_.begin_chore(
      recalled.node, Actor::Doing::kYield, acting_,
      [&](protocol::Nesting nesting) { return !recalled.busy && nesting.may_serve(); });
  if (actor == nullptr) return false;
  actor->recall = recalled.recall;
  actor->waits = actor->below == nullptr && (recalled.busy || rng_.chance(50));
  actor->start(nodes_[recalled.node].sc().yield(actor->strand, actor->recall, actor->waits));
  return true;
}

// Begins chores and recalls that no actor could begin before. True if one has begun.
bool History::spawn_waiting() {
  bool began = false;
  for (std::size_t i = 0; i < chores_.size();) {
    if (start(chores_[i])) {
      chores_.erase(chores_.begin() + static_cast<std::ptrdiff_t>(i));
      began = true;
    } else {
      ++i;
    }
  }
  for (std::size_t i = 0; i < recalls_.size();) {
    if (start(Recalled(recalls_[i]))) {
      recalls_.erase(recalls_.begin() + static_cast<std::ptrdiff_t>(i));
      began = true;
    } else {
      ++i;
    }
  }
  return began;
}

void History::finish_chore(Actor& actor) {
  const auto* counted = std::get_if<protocol::Task<std::uint64_t>>(&actor.operation);
  std::uint64_t value = counted == nullptr ? 0 : counted->value();
  std::uint32_t node = actor.node;
  auto what = actor.chore.what;
  doers_.end_chore(actor);
  if (const auto* drop = std::get_if<protocol::Drop>(&what)) {
    step_core(node, protocol::RegionDropped{drop->region, drop->blocks});
  } else if (const auto* offer = std::get_if<protocol::Offer>(&what)) {
    step_core(node, protocol::OfferMade{offer->to, offer->waiter, value});
  } else if (const auto* adopt = std::get_if<protocol::Adopt>(&what)) {
    std::uint32_t room = nodes_[node].hlrc().room_for_homes();
    step_core(node,
              protocol::AdoptionMade{adopt->from, adopt->waiter, adopt->run.count, value, room});
  } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&what)) {
    step_core(node, protocol::LockRelease{kept->lock, protocol::kNobody, value});
  } else if (const auto* expire = std::get_if<protocol::Expire>(&what)) {
    step_core(node, protocol::Expired{expire->origin, expire->waiter});
  }
  spawn_waiting();
}

void History::finish_yield(Actor& actor) {
  bool done = std::get<protocol::Task<bool>>(actor.operation).value();
  if (!done) recalls_.push_back({actor.node, actor.recall, true});
  doers_.end_chore(actor);
  spawn_waiting();
}

}  // namespace terrane::sim
