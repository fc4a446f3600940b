// What nodes ask each other that cannot reach each other's memory: the requests and their answers
// travel as the runtime's do, and are served by the protocol's own Server.
#include <algorithm>
#include <cstring>
#include <variant>

#include "protocol/serve/requests.h"
#include "sim/history.h"
#include "sim/names.h"

namespace terrane::sim {

using protocol::StepKind;

bool History::reaches(std::uint32_t from, NodeId to) const {
  return from % program_->setup.hosts == to.value % program_->setup.hosts;
}

// Sends what the step asks for.
Exchange& History::begin_exchange(Actor& actor) {
  const protocol::Step& step = actor.strand.step();
  protocol::WaiterId waiter = actor.strand.waiter();
  Exchange begun{.from = step.node, .blocks = step.blocks, .aside = step.flag};
  std::vector<std::byte> message;
  if (step.kind == StepKind::kAskAtomic) {
    begun.answer = wire::Kind::kAtomicReply;
    wire::put(message, protocol::atomic_request(step, actor.strand.atomic, waiter));
  } else if (step.kind == StepKind::kLoadOwner || step.kind == StepKind::kClaimOwner) {
    begun.answer = wire::Kind::kOwnerReply;
    wire::put(message, protocol::owner_request(step, waiter));
  } else {
    begun.answer = wire::Kind::kPageData;
    wire::put(message, protocol::fetch_request(step, waiter));
  }
  push(actor.node, step.node.value, message);
  return actor.asked.emplace_back(begun);
}

// Waits for the answer to what was asked just now or, of a fetch, before.
bool History::exchange(Actor& actor) {
  const protocol::Step& step = actor.strand.step();
  auto asked = std::find_if(actor.asked.begin(), actor.asked.end(), [&](const Exchange& one) {
    return one.blocks == step.blocks && one.from == step.node;
  });
  if (asked == actor.asked.end()) {
    begin_exchange(actor);
    asked = actor.asked.end() - 1;
  }
  if (!asked->done) {
    actor.wait = Actor::Wait::kAnswer;
    schedule_.park(actor.id);
    return false;
  }
  actor.strand.result = asked->result;
  if (step.kind == StepKind::kAskAtomic) actor.strand.before = asked->before;
  actor.asked.erase(asked);
  return true;
}

void History::end_promise(const Actor& actor) {
  const protocol::Step& step = actor.strand.step();
  wire::PromiseEnd end{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                       .block = step.blocks.first};
  push(actor.node, step.node.value, std::as_bytes(std::span(&end, 1)));
}

// ---- serving

Actor& History::server_of(std::uint32_t channel) {
  auto& server = servers_[channel];
  if (!server) server = std::make_unique<Actor>(static_cast<ActorId>(kFirstChannel + channel));
  return *server;
}

// Goes on with serving a channel's oldest message; true when that is over. A grant is served at the
// node that sends it, when the message is to arrive, as late as could be.
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

// The next block that the grant is to carry.
void History::fill_grant(Actor& server, std::uint32_t channel, protocol::Bytes message) {
  protocol::Bytes blocks = message.last(network_.wanted(channel) * sizeof(std::uint64_t));
  std::uint64_t block = 0;
  std::memcpy(&block, blocks.data() + server.next * sizeof block, sizeof block);
  protocol::Server& home = nodes_[server.node].hlrc().server();
  server.start(home.grant(server.strand, NodeId{network_.to(channel)}, block, server.message));
}

bool History::perform_typed(Actor& actor) {
  protocol::TypedStep& typed = actor.strand.typed();
  if (const auto* message = std::get_if<protocol::SendMessage>(&typed)) {
    send(actor, *message);
  } else if (const auto* push = std::get_if<protocol::SendPush>(&typed)) {
    send(actor, *push);
  } else if (auto* kept = std::get_if<protocol::KeepPush>(&typed)) {
    keep(actor.node, *kept->part);
    kept->result = true;
  } else if (const auto* atomic = std::get_if<protocol::PerformAtomic>(&typed)) {
    mover_.perform(actor);
    check_atomic_of(actor, atomic->result);
  } else if (!std::holds_alternative<protocol::SendPushes>(typed)) {
    return mover_.perform(actor);
  }
  return true;
}

void History::send(Actor& actor, const protocol::SendMessage& step) {
  std::vector<std::byte> message(step.head.begin(), step.head.end());
  message.insert(message.end(), step.tail.begin(), step.tail.end());
  if (step.to != NodeId{actor.node}) {
    push(actor.node, step.to.value, message);
  } else if (!accept(actor.node, actor.node, message)) {
    violated(Fault::kBadStep, "node {} sends itself a {}", actor.node, name_of_message(message));
  }
}

void History::send(Actor& actor, const protocol::SendPush& step) {
  if (actor.id >= kFirstChannel) {
    using enum protocol::Mutant;
    const wire::PageNews& head = step.part->head;
    bool expects = nodes_[actor.node].hlrc().expects(NodeId{head.home}, {head.block, head.blocks},
                                                     head.number);
    if (!expects && protocol::mutant(kNewsEndWhereUnread)) return;
    protocol::mark(protocol::Mark::kNewsPassedOn);
    if (!expects) protocol::mark(protocol::Mark::kNewsPassedOnByOthers);
    if (head.gone != 0) protocol::mark(protocol::Mark::kNewsGonePassedOn);
  }
  std::vector<std::byte> message;
  protocol::put_news_head(message, *step.part, step.further);
  message.insert(message.end(), step.part->bytes.begin(), step.part->bytes.end());
  push(actor.node, step.to.value, message);
}

void History::keep(std::uint32_t node, const protocol::NewsPart& part) {
  nodes_[node].news().put(part);
  for (auto& actor : actors_) {
    if (actor->node != node || actor->wait != Actor::Wait::kNews) continue;
    actor->wait = Actor::Wait::kNothing;
    schedule_.ready(actor->id);
  }
}

// In its home's memory at this moment, whoever else wants to: of the thread that asked for it.
void History::check_atomic_of(const Actor& actor, std::uint64_t before) {
  wire::AtomicRequest request;
  protocol::Bytes message(actor.message);
  wire::take(message, request);
  check_atomic(*actors_[request.waiter], before);
}

// ---- answers

// False: it is none.
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
    return !one.done && one.answer == answer.kind && one.from == NodeId{from} &&
           one.blocks.first == answer.block;
  });
  if (actor.node != node || asked == actor.asked.end())
    violated(Fault::kBadStep, "node {} is answered what it did not ask for", node);
  Node& self = nodes_[node];
  std::uint32_t unit = program_->setup.block_bytes;
  for (std::uint64_t i = 0; i * unit < message.size(); ++i) {
    if (!asked->aside) self.back(answer.block + i);
    std::byte* to = asked->aside ? self.aside(i) : self.frame(answer.block + i);
    std::memcpy(to, message.data() + i * unit, unit);
  }
  asked->result = protocol::result_of(answer);
  if constexpr (requires { answer.before; }) asked->before = answer.before;
  asked->done = true;
  if (actor.wait != Actor::Wait::kAnswer) return;
  actor.wait = Actor::Wait::kNothing;
  schedule_.ready(actor.id);
}

void History::flushed(std::uint32_t node, protocol::Bytes message) {
  wire::Flush answer;
  wire::take(message, answer);
  Actor& actor = *actors_[answer.waiter];
  // A home in the middle of a chain tells that it passed a difference on that was passed on to it.
  // That may come after the last home's answer, when the operation has ended.
  if (actor.node != node && answer.was_passed != 0 && answer.passed == 1) return;
  if (actor.node != node || !actor.flushes.answered(answer))
    violated(Fault::kBadStep, "node {} is told of a flush that it did not send", node);
  if (!actor.flushes.over() || actor.wait != Actor::Wait::kFlushed) return;
  actor.wait = Actor::Wait::kNothing;
  schedule_.ready(actor.id);
}

}  // namespace terrane::sim
