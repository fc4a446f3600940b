// Requests between nodes that cannot reach each other's memory. The requests and their answers are
// the runtime's messages, and the protocol's own Server serves them.
#include <algorithm>
#include <cstring>
#include <variant>

#include "protocol/serve/requests.h"
#include "sim/history.h"
#include "sim/names.h"

namespace terrane::sim {

bool History::reaches(std::uint32_t from, NodeId to) const {
  return from % program_->setup.hosts == to.value % program_->setup.hosts;
}

// ---- serving

Actor& History::server_of(std::uint32_t channel) {
  auto& server = servers_[channel];
  if (!server) server = std::make_unique<Actor>(static_cast<ActorId>(kFirstChannel + channel));
  return *server;
}

// Continues to serve a channel's oldest message. True when that is complete. The blocks of a grant
// are added by the node that sends it, but only when the message is to arrive: as late as is
// possible.
bool History::serve(std::uint32_t channel, protocol::Bytes message) {
  Actor& server = server_of(channel);
  if (!server.busy()) {
    if (network_.wanted(channel) > 0) {
      server.node = network_.from(channel);
      std::size_t blocks = network_.wanted(channel) * sizeof(std::uint64_t);
      server.message.assign(message.begin(), message.end() - static_cast<std::ptrdiff_t>(blocks));
      server.next = 0;
      fill_grant(server, channel, message);
    } else {
      server.node = network_.to(channel);
      server.message.assign(message.begin(), message.end());
      protocol::Server& home = nodes_[server.node].hlrc().server();
      server.start(home.serve(server.strand, NodeId{network_.from(channel)}, server.message));
    }
  } else if (!server.done()) {
    go_on(server);
  }
  if (!server.done()) return false;
  const auto* good = std::get_if<protocol::Task<bool>>(&server.operation);
  if (good != nullptr && !good->value())
    violated(Fault::kMalformed, "node {} refuses a message from node {}", server.node,
             network_.from(channel));
  server.clear_operation();
  if (network_.wanted(channel) == 0 || ++server.next == network_.wanted(channel)) return true;
  fill_grant(server, channel, message);
  return false;
}

// Adds the next block that the grant is to carry.
void History::fill_grant(Actor& server, std::uint32_t channel, protocol::Bytes message) {
  protocol::Bytes blocks = message.last(network_.wanted(channel) * sizeof(std::uint64_t));
  std::uint64_t block = 0;
  std::memcpy(&block, blocks.data() + server.next * sizeof block, sizeof block);
  protocol::Server& home = nodes_[server.node].hlrc().server();
  server.start(home.grant(server.strand, NodeId{network_.to(channel)}, block, server.message));
}

// ---- answers

// False if the message is no answer.
bool History::accept(std::uint32_t node, std::uint32_t from, protocol::Bytes message) {
  switch (static_cast<wire::Kind>(message[0])) {
    case wire::Kind::kFlushed:
      flushed(node, message);
      return true;
    case wire::Kind::kPageData:
      answered<wire::PageData>(node, from, message);
      return true;
    case wire::Kind::kOwnerReply:
      answered<wire::OwnerReply>(node, from, message);
      return true;
    case wire::Kind::kAtomicReply:
      answered<wire::AtomicReply>(node, from, message);
      return true;
    default:
      return false;
  }
}

template <typename Answer>
void History::answered(std::uint32_t node, std::uint32_t from, protocol::Bytes message) {
  Answer answer;
  wire::take(message, answer);
  Actor& actor = *actors_[answer.waiter];
  auto asked = std::find_if(actor.asked.begin(), actor.asked.end(), [&](const Exchange& one) {
    return one.answer.index() == 0 && one.from == NodeId{from} && one.blocks.first == answer.block;
  });
  if (actor.node != node || asked == actor.asked.end())
    violated(Fault::kBadStep, "node {} is answered what it did not ask for", node);
  Node& self = nodes_[node];
  std::uint32_t unit = program_->setup.block_bytes;
  for (std::uint64_t i = 0; i * unit < message.size(); ++i) {
    if (!asked->stages) self.back(answer.block + i);
    std::byte* to = asked->stages ? self.staged(i) : self.frame(answer.block + i);
    std::memcpy(to, message.data() + i * unit, unit);
  }
  asked->answer = protocol::result_of(answer);
  if (actor.wait != Actor::Wait::kAnswer) return;
  actor.wait = Actor::Wait::kNothing;
  doers_.make_ready(actor);
}

void History::flushed(std::uint32_t node, protocol::Bytes message) {
  wire::Flush answer;
  wire::take(message, answer);
  // A home in the middle of a chain reports that it passed on a difference that was passed on to
  // it. The report may come after all other answers, when the actor serves another node.
  if (answer.was_passed != 0 && answer.passed == 1) return;
  Actor& actor = *actors_[answer.waiter];
  if (actor.node != node || !actor.flushes.answered(answer))
    violated(Fault::kBadStep, "node {} is told of a flush that it did not send", node);
  if (!actor.flushes.over() || actor.wait != Actor::Wait::kFlushed) return;
  actor.wait = Actor::Wait::kNothing;
  doers_.make_ready(actor);
}

}  // namespace terrane::sim
