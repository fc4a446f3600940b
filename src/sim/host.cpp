#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "sim/history.h"
#include "sim/names.h"

namespace terrane::sim {

void History::step_core(std::uint32_t node, const protocol::Event& event) {
  effects_.clear();
  nodes_[node].core().step(event, effects_);
  for (const auto& effect : effects_.list) {
    if (const auto* sent = std::get_if<protocol::Send>(&effect)) {
      send(node, *sent);
    } else if (const auto* resumed = std::get_if<protocol::Resume>(&effect)) {
      resume(node, *resumed);
    } else if (const auto* drop = std::get_if<protocol::Drop>(&effect)) {
      spawn({node, *drop, {}});
    } else if (const auto* expire = std::get_if<protocol::Expire>(&effect)) {
      const std::byte* ranges = effects_.bytes.data() + expire->offset;
      spawn({node, *expire, {ranges, ranges + expire->size}});
    } else if (const auto* offer = std::get_if<protocol::Offer>(&effect)) {
      spawn({node, *offer, {}});
    } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&effect)) {
      spawn({node, *kept, {}});
    } else if (const auto* turn = std::get_if<protocol::TurnExtended>(&effect)) {
      spawn({node, *turn, {}});
    } else if (const auto* recall = std::get_if<protocol::Recall>(&effect)) {
      recalls_.push_back({node, *recall});
    } else if (const auto* place = std::get_if<protocol::Place>(&effect)) {
      this->place(node, *place);
    } else {
      violated(Fault::kMalformed, "node {} refuses a message from node {}", node,
               std::get<protocol::Malformed>(effect).from.value);
    }
  }
  spawn_waiting();
  if (careful_) nodes_[node].core().check_invariants();
}

void History::send(std::uint32_t node, const protocol::Send& send) {
  if (send.to.value >= program_->setup.nodes || send.to.value == node)
    violated(Fault::kBadStep, "node {} sends to node {}", node, send.to.value);
  std::size_t wanted = send.wanted * sizeof(std::uint64_t);
  protocol::Bytes head = protocol::Bytes(effects_.bytes).subspan(send.offset, send.size + wanted);
  if (send.with.count == 0) {
    push(node, send.to.value, head, send.wanted);
    return;
  }
  std::vector<std::byte> message(head.begin(), head.end());
  const std::byte* page = nodes_[node].frame(send.with.first);
  message.insert(message.end(), page, page + program_->setup.block_bytes);
  push(node, send.to.value, message);
}

void History::place(std::uint32_t node, const protocol::Place& place) {
  if (place.bytes.size() != program_->setup.block_bytes)
    violated(Fault::kMalformed, "node {} is sent {} bytes of a page", node, place.bytes.size());
  nodes_[node].back(place.block.value);
  std::memcpy(nodes_[node].frame(place.block.value), place.bytes.data(), place.bytes.size());
}

void History::push(std::uint32_t from, std::uint32_t to, protocol::Bytes message,
                   std::uint32_t wanted) {
  std::uint32_t channel = network_.channel(from, to);
  network_.push(channel, message, wanted);
  schedule_.ready(static_cast<ActorId>(kFirstChannel + channel));
}

void History::resume(std::uint32_t node, const protocol::Resume& resume) {
  std::uint32_t id = resume.waiter.value;
  if (id >= actors_.size() || actors_[id]->node != node ||
      actors_[id]->wait != Actor::Wait::kResume)
    violated(Fault::kBadStep, "node {} resumes {}, which does not wait", node, id);
  Actor& actor = *actors_[id];
  actor.wait = Actor::Wait::kNothing;
  actor.resumed = true;
  actor.value = resume.value;
  actor.strand.set_answer(effects_.bytes.data() + resume.offset, resume.size);
  schedule_.ready(actor.id);
}

Actor* History::idle_handler(std::uint32_t node, Actor::Doing doing) {
  for (std::uint32_t i = kMaxThreads; i < actors_.size(); ++i) {
    Actor& actor = *actors_[i];
    if (actor.busy()) continue;
    actor.reset();
    actor.node = node;
    actor.doing = doing;
    schedule_.ready(actor.id);
    return &actor;
  }
  return nullptr;
}

// A handler of the node does it, when one is free; afterwards the core is told.
void History::spawn(Chore chore) {
  if (!start(chore)) chores_.push_back(std::move(chore));
}

bool History::start(Chore& chore) {
  Actor* actor = idle_handler(chore.node, Actor::Doing::kChore);
  if (actor == nullptr) return false;
  actor->chore = std::move(chore);
  protocol::Hlrc& hlrc = nodes_[actor->node].hlrc();
  if (const auto* drop = std::get_if<protocol::Drop>(&actor->chore.what)) {
    actor->start(hlrc.drop(actor->strand, drop->region, drop->blocks));
  } else if (const auto* offer = std::get_if<protocol::Offer>(&actor->chore.what)) {
    actor->start(hlrc.offer_asked(actor->strand, *offer));
  } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&actor->chore.what)) {
    actor->start(hlrc.release_kept(actor->strand, *kept));
  } else if (const auto* turn = std::get_if<protocol::TurnExtended>(&actor->chore.what)) {
    actor->start(hlrc.end_turn(actor->strand, turn->lock));
  } else {
    NodeId origin = std::get<protocol::Expire>(actor->chore.what).origin;
    actor->start(hlrc.expire(actor->strand, origin, actor->chore.ranges));
  }
  return true;
}

void History::finish_chore(Actor& actor) {
  const auto* counted = std::get_if<protocol::Task<std::uint64_t>>(&actor.operation);
  std::uint64_t value = counted == nullptr ? 0 : counted->value();
  actor.clear_operation();
  schedule_.park(actor.id);
  std::uint32_t node = actor.node;
  auto what = actor.chore.what;
  spawn_waiting();
  if (const auto* drop = std::get_if<protocol::Drop>(&what)) {
    step_core(node, protocol::RegionDropped{drop->region, drop->blocks});
  } else if (const auto* offer = std::get_if<protocol::Offer>(&what)) {
    step_core(node, protocol::OfferMade{offer->to, offer->waiter, value});
  } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&what)) {
    step_core(node, protocol::LockRelease{kept->lock, protocol::kNobody, value});
  } else if (const auto* expire = std::get_if<protocol::Expire>(&what)) {
    step_core(node, protocol::Expired{expire->origin, expire->waiter});
  }
}

// What waits for a handler, as far as some are free. A recall is carried out sometimes by who must
// not wait; then the handler does it that may.
void History::spawn_waiting() {
  while (!chores_.empty() && start(chores_.front())) chores_.pop_front();
  while (!recalls_.empty()) {
    auto [node, recall] = recalls_.front();
    Actor* actor = idle_handler(node, Actor::Doing::kYield);
    if (actor == nullptr) return;
    recalls_.erase(recalls_.begin());
    actor->recall = recall;
    actor->waits = rng_.chance(50);
    actor->start(nodes_[node].sc().yield(actor->strand, recall, actor->waits));
  }
}

void History::wake(std::uint32_t node, const std::atomic<std::uint32_t>* word) {
  for (auto& actor : actors_) {
    if (actor->wait != Actor::Wait::kWord || actor->node != node) continue;
    if (std::get<protocol::Wait>(actor->strand.step()).word != word) continue;
    actor->wait = Actor::Wait::kNothing;
    actor->resumed = true;
    schedule_.ready(actor->id);
  }
}

}  // namespace terrane::sim
