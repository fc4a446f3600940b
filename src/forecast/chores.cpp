// What the machine (Core) of a node wants done on that node, beside its threads' operations.
#include <algorithm>

#include "forecast/machine.h"

namespace terrane::forecast {

// The handler does it, at once.
void Machine::make_offer(std::uint32_t self, const protocol::Offer& offer) {
  Node& node = *job_.nodes[self];
  Actor handler(self, protocol::kNobody.value, Actor::Role::kServer);
  double cost = 0;
  std::uint64_t made = run_at_once(handler, node.hlrc->offer_asked(handler.strand, offer), &cost);
  node.handler_free = std::max(job_.now(), node.handler_free) + static_cast<Ns>(cost);
  node.tally.handler += static_cast<Ns>(cost);
  step_core(self, protocol::OfferMade{offer.to, offer.waiter, made});
}

// asked: a message asks for the token, which leaves at once if a thread waits.
void Machine::extend_turn(std::uint32_t self, LockId lock, bool asked) {
  Node& node = *job_.nodes[self];
  std::erase_if(node.turns, [lock](const Turn& turn) { return turn.lock == lock; });
  bool leaves = asked && node.has_time();
  node.turns.push_back({lock, leaves ? 0 : job_.now()});
  job_.agenda.add(Happening::Kind::kTurnEnds, leaves ? job_.now() : job_.now() + kTurnNs, self, 0);
}

// A waiting thread looks at the turns all the time, the handler now and then.
void Machine::look_at_turns(std::uint32_t self) {
  Node& node = *job_.nodes[self];
  if (node.has_time()) return end_turns(self, kTurnNs);
  end_turns(self, kWatchTurnsNs);
  if (node.turns.empty()) return;
  job_.agenda.add(Happening::Kind::kTurnEnds, node.turns.front().since + kWatchTurnsNs, self, 0);
}

// Those that have lasted so long.
void Machine::end_turns(std::uint32_t self, Ns lasted) {
  std::vector<Turn>& turns = job_.nodes[self]->turns;
  if (turns.empty()) return;
  std::vector<Turn> ending;
  for (const Turn& turn : turns)
    if (job_.now() - turn.since >= lasted) ending.push_back(turn);
  std::erase_if(turns, [=, this](const Turn& turn) { return job_.now() - turn.since >= lasted; });
  for (const Turn& turn : ending) step_core(self, protocol::LockEndTurn{turn.lock});
}

// A thread is in an operation: it looks at the turns.
void Machine::end_turns_beside(std::uint32_t self, const protocol::Event& event) {
  bool waits_long = std::holds_alternative<protocol::CountSleep>(event) ||
                    std::holds_alternative<protocol::BarrierEnter>(event) ||
                    std::holds_alternative<protocol::BarrierGather>(event);
  end_turns(self, waits_long ? 0 : kTurnNs);
}

// The actor's next chore, if it has none.
void Machine::begin_chore(Actor& actor) {
  Node& node = *job_.nodes[actor.node];
  std::deque<Chore>& chores = &actor == node.releaser ? node.releases : node.drops;
  if (actor.is_busy() || chores.empty()) return;
  const Chore& chore = chores.front();
  Working working(job_.observer, actor.node);
  if (const auto* kept = std::get_if<protocol::ReleaseKept>(&chore.what)) {
    actor.start(node.hlrc->release_kept(actor.strand, *kept));
  } else if (const auto* expire = std::get_if<protocol::Expire>(&chore.what)) {
    actor.start(node.hlrc->expire(actor.strand, expire->origin, chore.ranges, expire->home));
  } else if (const auto* drop = std::get_if<protocol::Drop>(&chore.what)) {
    actor.start(node.hlrc->drop(actor.strand, drop->region, drop->blocks));
  } else {
    actor.start(node.hlrc->adopt(actor.strand, std::get<protocol::Adopt>(chore.what)));
  }
  job_.go_on(actor);
}

void Machine::finish_chore(Actor& actor) {
  Node& node = *job_.nodes[actor.node];
  std::deque<Chore>& chores = &actor == node.releaser ? node.releases : node.drops;
  Chore chore = std::move(chores.front());
  chores.pop_front();
  const auto* counted = std::get_if<protocol::Task<std::uint64_t>>(&actor.operation);
  std::uint64_t value = counted == nullptr ? 0 : counted->value();
  actor.operation.emplace<0>();
  if (const auto* kept = std::get_if<protocol::ReleaseKept>(&chore.what)) {
    step_core(actor.node, protocol::LockRelease{kept->lock, protocol::kNobody, value});
  } else if (const auto* expire = std::get_if<protocol::Expire>(&chore.what)) {
    step_core(actor.node, protocol::Expired{expire->origin, expire->waiter});
  } else if (const auto* drop = std::get_if<protocol::Drop>(&chore.what)) {
    step_core(actor.node, protocol::RegionDropped{drop->region, drop->blocks});
  } else {
    const auto& adopt = std::get<protocol::Adopt>(chore.what);
    step_core(actor.node, protocol::AdoptionMade{adopt.from, adopt.waiter, adopt.run.count, value,
                                                 node.hlrc->room_for_homes()});
  }
  begin_chore(actor);
}

}  // namespace terrane::forecast
