#include "forecast/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace terrane::forecast {

Machine::Machine(Program& program, const Setup& setup, Observer* observer)
    : job_(program, setup, observer),
      threads_(job_, [this](std::uint32_t node) { end_turns(node, kTurnNs); }) {
  if (job_.has_failed()) return;
  for (std::uint32_t n = 0; n < job_.node_count(); ++n) make_node(n);
}

Machine::~Machine() {
  for (auto& node : job_.nodes) {
    for (auto& actor : node->actors) actor->operation.emplace<0>();
    node->hlrc.reset();
  }
}

void Machine::make_node(std::uint32_t self) {
  auto& node = *job_.nodes.emplace_back(std::make_unique<Node>());
  node.frames.resize(job_.blocks);
  node.twins.resize(job_.blocks);
  node.views.resize(job_.blocks);
  node.staged.resize(protocol::Hlrc::kMaxRun);
  node.words.resize(job_.blocks);
  node.owners.resize(job_.blocks);
  node.wanted.resize(job_.blocks / 64);
  for (auto& set : node.sets)
    set =
        std::make_unique<protocol::BlockSet::Word[]>(protocol::BlockSet::words_needed(job_.blocks));
  node.entries = std::make_unique<protocol::BlockEntry[]>(job_.blocks);
  node.reached = std::make_unique<bool[]>(job_.setup.nodes);
  node.reached[self] = true;
  node.free_processors = job_.setup.processors;
  node.releaser = job_.add_actor<Actor>(self, Actor::Role::kReleaser);
  node.dropper = job_.add_actor<Actor>(self, Actor::Role::kDropper);
  node.allocator = job_.add_actor<Actor>(self, Actor::Role::kAllocator);
  Working working(job_.observer, self);
  std::vector<std::uint32_t> hosts(job_.setup.nodes);
  std::iota(hosts.begin(), hosts.end(), 0);
  node.core.emplace(protocol::CoreConfig{.self = NodeId{self},
                                         .nodes = job_.setup.nodes,
                                         .blocks = job_.blocks,
                                         .block_bytes = kPageBytes,
                                         .reached = node.reached.get(),
                                         .hosts = hosts.data()});
  protocol::BlockMemory memory{.entries = node.entries.get(), .reached = node.reached.get()};
  for (int i = 0; i < protocol::BlockMemory::kSets; ++i) memory.sets[i] = node.sets[i].get();
  node.history = std::make_unique<protocol::BlockHistory[]>(job_.blocks);
  protocol::Tunables tunables = protocol::tuned({}, job_.setup.prediction.on);
  node.predictor =
      protocol::make_predictor(job_.setup.prediction, node.history.get(), job_.blocks, tunables);
  node.hlrc.emplace(protocol::HlrcConfig{.self = NodeId{self},
                                         .nodes = job_.setup.nodes,
                                         .blocks = job_.blocks,
                                         .migrate = true,
                                         .tunables = tunables},
                    memory, *node.core, *node.predictor);
}

std::uint64_t Machine::known(std::uint32_t node) const {
  const protocol::BlockEntry* entries = job_.nodes[node]->entries.get();
  std::uint64_t known = 0;
  for (std::uint64_t b = 0; b < job_.blocks; ++b) known += entries[b].home() != kNoNode;
  return known;
}

// ---- time

Forecast Machine::run() {
  for (std::uint32_t n = 0; n < job_.nodes.size(); ++n) allocate(n);
  play();
  if (job_.has_failed()) return result(0);
  Ns started = now();
  for (auto& node : job_.nodes) node->tally = {};
  threads_.begin();
  do {
    play();
  } while (!job_.has_failed() && !threads_.have_ended() && end_lost_wait());
  if (!threads_.have_ended()) job_.fail(threads_.waiting());
  return result((job_.has_failed() ? now() : threads_.ended_at()) - started);
}

// Until nothing can happen any more.
void Machine::play() {
  while (!job_.agenda.is_empty() && !job_.has_failed()) {
    Happening next = job_.agenda.next();
    if (job_.agenda.is_idle()) return job_.fail("no thread gets any further");
    switch (next.kind) {
      case Happening::Kind::kActs: {
        Actor& actor = *job_.nodes[next.node]->actors[next.number];
        if (actor.generation == next.generation) act(actor);
        break;
      }
      case Happening::Kind::kArrives:
        arrive(next.number);
        break;
      case Happening::Kind::kIsHandled:
        handle(next.number);
        break;
      case Happening::Kind::kTurnEnds:
        look_at_turns(next.node);
        break;
      case Happening::Kind::kNewsComes:
        wake(threads_.at(next.number));
        break;
    }
  }
}

// A thread that has missed its signal goes on, as a condition permits.
bool Machine::end_lost_wait() {
  Thread* thread = threads_.lost_wait();
  if (thread == nullptr) return false;
  ++lost_signals_;
  step_core(thread->node, protocol::CountExpire{thread->strand.waiter()});
  return true;
}

Forecast Machine::result(Ns total) {
  Forecast forecast;
  forecast.stuck = job_.failure;
  forecast.total = total;
  forecast.lost_signals = lost_signals_;
  for (const Thread* thread : threads_.all()) forecast.threads.push_back(thread->times);
  for (const auto& node : job_.nodes) {
    const Tally& tally = node->tally;
    forecast.nodes.push_back({.messages = tally.messages,
                              .bytes = tally.bytes,
                              .received = tally.received,
                              .faults = tally.faults,
                              .fetched = tally.fetched + tally.pushed,
                              .handler = tally.handler,
                              .most_pages = node->most_pages,
                              .most_twins = node->most_twins,
                              .most_held = node->most_held});
  }
  job_.accounts.write(forecast);
  return forecast;
}

// Where no thread polls, the handler has to wake up.
void Machine::arrive(std::uint64_t number) {
  const Message& message = job_.message(number);
  Node& node = *job_.nodes[message.to];
  ++node.tally.received;
  Ns begin = std::max(now(), node.handler_free);
  bool sleeps = !node.polls(now(), job_.setup.processors);
  if (sleeps && begin == now()) begin += static_cast<Ns>(job_.costs.wake);
  auto cost = static_cast<Ns>(cost_of(message, job_.costs));
  node.tally.handler += cost;
  node.handler_free = begin + cost;
  job_.agenda.add(Happening::Kind::kIsHandled, node.handler_free, message.to, number);
}

void Machine::handle(std::uint64_t number) {
  Message message = job_.take_message(number);
  if (protocol::Server::serves(message.bytes)) return serve(message);
  switch (message.kind()) {
    case wire::Kind::kPageData:
      return answered<wire::PageData>(message);
    case wire::Kind::kOwnerReply:
      return answered<wire::OwnerReply>(message);
    case wire::Kind::kAtomicReply:
      return answered<wire::AtomicReply>(message);
    case wire::Kind::kFlushed:
      return flushed(message);
    default:
      in_message_ = true;
      step_core(message.to, protocol::Received{NodeId{message.from}, message.bytes});
      in_message_ = false;
      end_turns(message.to, kTurnNs);
  }
}

// ---- the core

void Machine::step_core(std::uint32_t self, const protocol::Event& event) {
  Node& node = *job_.nodes[self];
  effects_.clear();
  {
    Working working(job_.observer, self);
    node.core->step(event, effects_);
  }
  carry_out(self, effects_);
}

// Chores begin when all other effects have taken place: they step the core as well.
void Machine::carry_out(std::uint32_t self, const protocol::Effects& effects) {
  Node& node = *job_.nodes[self];
  std::vector<protocol::Offer> offers;
  for (const auto& effect : effects.list) {
    if (const auto* sent = std::get_if<protocol::Send>(&effect)) {
      auto from = effects.bytes.begin() + sent->offset;
      std::vector<std::byte> bytes(from, from + sent->size);
      add_granted(self, *sent, bytes);
      job_.post(self, sent->to.value, std::move(bytes));
    } else if (const auto* resumed = std::get_if<protocol::Resume>(&effect)) {
      resume(self, *resumed);
    } else if (const auto* offer = std::get_if<protocol::Offer>(&effect)) {
      offers.push_back(*offer);
    } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&effect)) {
      node.releases.push_back({*kept, {}});
    } else if (const auto* turn = std::get_if<protocol::TurnExtended>(&effect)) {
      extend_turn(self, turn->lock, in_message_);
    } else if (const auto* expire = std::get_if<protocol::Expire>(&effect)) {
      const std::byte* ranges = effects.bytes.data() + expire->offset;
      node.drops.push_back({*expire, {ranges, ranges + expire->size}});
    } else if (const auto* drop = std::get_if<protocol::Drop>(&effect)) {
      node.drops.push_back({*drop, {}});
    } else if (const auto* adopt = std::get_if<protocol::Adopt>(&effect)) {
      node.drops.push_back({*adopt, {}});
    } else {
      job_.fail(fmt::format("node {} refuses a message", self));
    }
  }
  begin_chore(*node.releaser);
  begin_chore(*node.dropper);
  for (const protocol::Offer& offer : offers) make_offer(self, offer);
}

void Machine::resume(std::uint32_t self, const protocol::Resume& resumed) {
  Actor& actor = *job_.nodes[self]->actors[resumed.waiter.value];
  actor.resumed = true;
  actor.value = resumed.value;
  actor.strand.set_answer(effects_.bytes.data() + resumed.offset, resumed.size);
  if (actor.wait == Actor::Wait::kResume) wake(actor);
}

// ---- actors

void Machine::wake(Actor& actor) {
  if (actor.role == Actor::Role::kThread) return threads_.wake(static_cast<Thread&>(actor));
  actor.wait = Actor::Wait::kNothing;
  job_.go_on(actor);
}

// One step, or the next op of a thread.
void Machine::act(Actor& actor) {
  bool is_thread = actor.role == Actor::Role::kThread;
  if (actor.role == Actor::Role::kAllocator) return finish_allocation(actor.node);
  if (!actor.is_busy()) return threads_.go_on(static_cast<Thread&>(actor));
  if (actor.is_done()) {
    if (!is_thread) return finish_chore(actor);
    threads_.finish_operation(static_cast<Thread&>(actor));
    return job_.go_on(actor);
  }
  const auto* pause = std::get_if<protocol::Pause>(&actor.strand.step());
  bool yields = pause != nullptr && pause->yields;
  auto cost = perform(actor);
  if (!cost) {
    if (is_thread) threads_.wait(static_cast<Thread&>(actor));
    return;
  }
  {
    Working working(job_.observer, actor.node);
    actor.strand.move_on();
  }
  if (is_thread && yields) return threads_.yield(static_cast<Thread&>(actor));
  job_.go_on(actor, *cost);
}

}  // namespace terrane::forecast
