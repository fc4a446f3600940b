#include "sim/history.h"

#include <algorithm>
#include <variant>

#include "sim/checked_homes.h"
#include "sim/names.h"
#include "sim/trace_steps.h"

namespace terrane::sim {

History::History() : nodes_(kMaxNodes) {
  for (std::uint32_t i = 0; i < kMaxThreads + kMaxHandlers; ++i)
    actors_.push_back(std::make_unique<Actor>(static_cast<ActorId>(i)));
}

History::~History() {
  for (auto& actor : actors_) actor->clear_operation();
  for (auto& server : servers_)
    if (server) server->clear_operation();
}

Outcome History::run(const Program& program, std::uint64_t seed, bool careful, Trace* trace,
                     Director* director) {
  careful_ = careful;
  trace_ = trace;
  director_ = director;
  acting_ = 0;
  received_ = "nothing";
  outcome_ = Outcome{};
  outcome_.violation = violation_of([&] {
    begin(program, seed);
    loop();
    finish_check();
  });
  Violation& violation = outcome_.violation;
  if (violation.fault == Fault::kInvariant || violation.fault == Fault::kBadStep ||
      violation.fault == Fault::kMalformed)
    violation.text += ", when " + where();
  outcome_.steps = schedule_.picks();
  return outcome_;
}

void History::begin(const Program& program, std::uint64_t seed) {
  program_ = &program;
  rng_ = base::Prng(seed);
  for (auto& actor : actors_) actor->reset();
  chores_.clear();
  const Setup& setup = program.setup;
  for (std::uint32_t n = 0; n < setup.nodes; ++n) {
    nodes_[n].begin(n, setup);
    threads_at_[n] = 0;
  }
  network_.begin(setup.nodes);
  recalls_.clear();
  mover_.begin(rng_, setup);
  checker_.begin(program);
  doers_.begin(program, rng_, director_ != nullptr || rng_.chance(50));
  region_first_.assign(program.regions.size(), kNoRegion);
  region_stands_.assign(program.regions.size(), false);
  operations_.reset(program);
  for (auto& server : servers_)
    if (server) server->reset();
  draw_mood(rng_);
  running_ = program.threads();
  for (std::uint32_t t = 0; t < running_; ++t) {
    Actor& actor = *actors_[t];
    actor.node = program.thread_node[t];
    ++threads_at_[actor.node];
    schedule_.ready(actor.id);
  }
}

static_assert(std::variant_size_v<protocol::Step> <= 64, "History::focus_ has a bit for each");

void History::draw_mood(base::Prng& rng) {
  // Focus counts double: it finds faults that need another actor at one exact moment.
  std::uint32_t draw = rng.below(static_cast<std::uint32_t>(Mood::kCount) + 1);
  Mood mood = std::min(static_cast<Mood>(draw), Mood::kFocus);
  schedule_.begin(rng, mood);
  focus_ = 0;
  std::uint32_t kinds = mood == Mood::kFocus ? 1 + rng.below(3) : 0;
  for (std::uint32_t i = 0; i < kinds; ++i) {
    using namespace protocol;
    // Steps of a release are listed twice, because most rules concern them.
    static const std::size_t kKinds[] = {
        index_of<Pause>,      index_of<Call>,       index_of<Tell>,       index_of<LoadWord>,
        index_of<StoreWord>,  index_of<StoreWord>,  index_of<SetWanted>,  index_of<TakeWanted>,
        index_of<TakeWanted>, index_of<LoadOwner>,  index_of<ClaimOwner>, index_of<Map>,
        index_of<Protect>,    index_of<Protect>,    index_of<Zap>,        index_of<Scan>,
        index_of<Scan>,       index_of<CopyHome>,   index_of<CopyTwin>,   index_of<StoreDiff>,
        index_of<SwapWord>,   index_of<Populate>,   index_of<Punch>,      index_of<Fetch>,
        index_of<PostDiff>,   index_of<AwaitFlush>, index_of<CountFlush>, index_of<CountGiving>,
        index_of<ReadBlock>,  index_of<ApplyDiff>,  index_of<SendMessage>};
    // The last eight kinds occur only between hosts.
    std::uint32_t count = std::size(kKinds) - (program_->setup.hosts > 1 ? 0 : 8);
    focus_ |= 1ull << kKinds[rng.below(count)];
  }
  if (mood != Mood::kSlow) return;
  const std::uint32_t nodes = program_->setup.nodes;
  std::uint32_t node = rng.below(nodes);
  switch (rng.below(5)) {
    case 4:  // handlers and droppers
      for (std::uint32_t h = 0; h < kMaxHandlers; ++h)
        schedule_.set_slow(static_cast<ActorId>(kMaxThreads + h));
      break;
    case 0:  // a thread
      schedule_.set_slow(static_cast<ActorId>(rng.below(program_->threads())));
      break;
    case 1:  // a node's threads
      for (std::uint32_t t = 0; t < program_->threads(); ++t)
        if (program_->thread_node[t] == node) schedule_.set_slow(static_cast<ActorId>(t));
      break;
    case 2:  // what a node sends
      for (std::uint32_t to = 0; to < nodes; ++to)
        schedule_.set_slow(static_cast<ActorId>(kFirstChannel + network_.channel(node, to)));
      break;
    default:  // some channels
      for (std::uint32_t c = 0; c < network_.channels(); ++c)
        if (rng.chance(30)) schedule_.set_slow(static_cast<ActorId>(kFirstChannel + c));
      break;
  }
}

void History::loop() {
  while (director_ != nullptr || !schedule_.empty() || spawn_waiting()) {
    if (schedule_.picks() == kUnfairSteps) {
      schedule_.make_fair();
      focus_ = 0;
    }
    if (schedule_.picks() > kMaxSteps)
      violated(Fault::kEndless, "more than {} steps: somebody goes round in circles", kMaxSteps);
    ActorId id = director_ == nullptr ? schedule_.pick() : direct();
    if (id == kNoActor) return;
    acting_ = id;
    if (id >= kFirstChannel) {
      deliver(static_cast<std::uint32_t>(id - kFirstChannel));
    } else {
      act(*actors_[id]);
    }
  }
}

ActorId History::direct() {
  ActorId id =
      director_->pick({schedule_.ready(), actors_, network_, outcome_.hash, schedule_.picks()});
  if (id != kNoActor) schedule_.take(id);
  return id;
}

void History::act(Actor& actor) {
  if (actor.doing == Actor::Doing::kHostCall) {
    operations_.finish_host_call(actor);
  } else if (!actor.busy()) {
    operations_.begin(actor);
  } else if (actor.done()) {  // its operation had no step
    finish_operation(actor);
  } else if (go_on(actor) && actor.done()) {
    finish_operation(actor);
  }
}

void History::finish_operation(Actor& actor) {
  switch (actor.doing) {
    case Actor::Doing::kChore:
      return finish_chore(actor);
    case Actor::Doing::kYield:
      return finish_yield(actor);
    default:
      return operations_.finish(actor);
  }
}

// Performs one step, or a piece of one. True if the step is now complete.
bool History::go_on(Actor& actor) {
  if (!perform(actor)) return false;
  std::size_t kind = actor.strand.step().index();
  note(actor, kind << 8 | 1);
  actor.progress = {};
  if ((focus_ >> kind & 1) && rng_.chance(50)) schedule_.doze(actor.id);
  actor.strand.move_on();
  return true;
}

void History::deliver(std::uint32_t channel) {
  std::uint32_t from = network_.from(channel);
  std::uint32_t to = network_.to(channel);
  protocol::Bytes message = network_.front(channel);
  bool served = protocol::Server::serves(message);
  bool begins = !server_of(channel).busy();
  received_ = name_of_message(message);
  if (trace_ && begins)
    trace({.actor = fmt::format("node {}", to),
           .kind = "receives",
           .name = std::string(received_),
           .detail = fmt::format("from node {}", from)});
  if (served || network_.wanted(channel) > 0) {
    if (!serve(channel, message)) return;
    message = server_of(channel).message;
  }
  outcome_.hash = (outcome_.hash ^ (channel + 0x100u + message.size())) * 0x100000001b3u;
  ++outcome_.messages;
  if (!served && !accept(to, from, message))
    step_core(to, protocol::Received{NodeId{from}, message});
  network_.pop(channel);
  if (network_.empty(channel)) schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  if (careful_) check_across();
}

// No actor can act any more: all threads must have ended.
void History::finish_check() {
  if (running_ > 0) {
    std::string who;
    for (std::uint32_t t = 0; t < program_->threads(); ++t) {
      const Actor& actor = *actors_[t];
      if (actor.next >= program_->ops[t].size()) continue;
      who += fmt::format("; node {} thread {} in {}", actor.node, t,
                         describe(*program_, operations_.of(actor)));
      if (actor.busy()) who += fmt::format(" at {}", describe(actor.strand.step()));
    }
    violated(Fault::kDeadlock, "nothing can happen any more, and {} threads have not ended{}",
             running_, who);
  }
  for (auto& actor : actors_)
    if (actor->busy()) violated(Fault::kDeadlock, "a handler is still waiting at the end");
  if (!chores_.empty() || !recalls_.empty())
    violated(Fault::kDeadlock, "nobody has done what a node's machine wanted");
  compare_accesses(std::span(nodes_).first(program_->setup.nodes), program_->setup.block_bytes,
                   checker_);
  checker_.check_planted();
  check_across();
}

}  // namespace terrane::sim
