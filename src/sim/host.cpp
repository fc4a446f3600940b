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
    } else if (const auto* adopt = std::get_if<protocol::Adopt>(&effect)) {
      spawn({node, *adopt, {}});
    } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&effect)) {
      spawn({node, *kept, {}});
    } else if (const auto* turn = std::get_if<protocol::TurnExtended>(&effect)) {
      spawn({node, *turn, {}});
    } else if (const auto* recall = std::get_if<protocol::Recall>(&effect);
               recall != nullptr && recall->releases) {
      spawn({node, *recall, {}});
    } else if (recall != nullptr) {
      recalls_.push_back({node, *recall, false});
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
  doers_.make_ready(actor);
}

void History::wake(std::uint32_t node, const std::atomic<std::uint32_t>* word) {
  for (auto& actor : actors_) {
    if (actor->wait != Actor::Wait::kWord || actor->node != node) continue;
    if (std::get<protocol::Wait>(actor->strand.step()).word != word) continue;
    actor->wait = Actor::Wait::kNothing;
    actor->resumed = true;
    doers_.make_ready(*actor);
  }
}

}  // namespace terrane::sim
