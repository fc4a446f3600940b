#include "sim/history.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "sim/names.h"
#include "sim/trace_steps.h"

namespace terrane::sim {

History::History() : nodes_(kMaxNodes) {
  for (std::uint32_t i = 0; i < kMaxThreads + kMaxHandlers; ++i)
    actors_.push_back(std::make_unique<Actor>(static_cast<ActorId>(i)));
}

History::~History() {
  for (auto& actor : actors_) actor->clear_operation();
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
  region_first_.assign(program.regions.size(), kNoRegion);
  region_stands_.assign(program.regions.size(), false);
  for (std::uint32_t& holder : holder_) holder = kNobody;
  for (Progress& progress : flushed_) progress = {};
  for (bool& ready : ready_) ready = false;
  for (Users& users : users_) users = {};
  sums_.assign(256, 0);
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    for (const Op& op : program.ops[t])
      if (op.kind == OpKind::kBarrier) sums_[op.phase] += op.value;
  doomed_left_ = 0;
  freer_ = kNobody;
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    for (const Op& op : program.ops[t]) {
      doomed_left_ += op.kind == OpKind::kDoomedStore;
      if (op.kind == OpKind::kPrepare) arrivals_[op.at] = static_cast<std::uint32_t>(op.value);
    }
  draw_mood(rng_);
  running_ = program.threads();
  for (std::uint32_t t = 0; t < running_; ++t) {
    Actor& actor = *actors_[t];
    actor.node = program.thread_node[t];
    ++threads_at_[actor.node];
    schedule_.ready(actor.id);
  }
}

void History::draw_mood(base::Prng& rng) {
  // Focus counts double: it finds what needs somebody else at one certain moment.
  std::uint32_t draw = rng.below(static_cast<std::uint32_t>(Mood::kCount) + 1);
  Mood mood = std::min(static_cast<Mood>(draw), Mood::kFocus);
  schedule_.begin(rng, mood);
  focus_ = 0;
  std::uint32_t kinds = mood == Mood::kFocus ? 1 + rng.below(3) : 0;
  for (std::uint32_t i = 0; i < kinds; ++i) {
    using enum protocol::StepKind;
    // Those of a release count double: there most rules are at stake.
    static constexpr protocol::StepKind kKinds[] = {
        kPause,      kCall,       kTell,      kLoadWord,   kStoreWord, kStoreWord, kSetWanted,
        kTakeWanted, kTakeWanted, kLoadOwner, kClaimOwner, kMap,       kProtect,   kProtect,
        kZap,        kScan,       kScan,      kCopyHome,   kCopyTwin,  kStoreDiff, kSwapWord,
        kPopulate,   kPunch,      kFetch,     kPostDiff,   kAwaitFlush};  // the last three between
                                                                          // hosts alone
    std::uint32_t count = std::size(kKinds) - (program_->setup.hosts > 1 ? 0 : 3);
    focus_ |= 1ull << static_cast<std::uint32_t>(kKinds[rng.below(count)]);
  }
  if (mood != Mood::kSlow) return;
  const std::uint32_t nodes = program_->setup.nodes;
  std::uint32_t node = rng.below(nodes);
  switch (rng.below(5)) {
    case 4:  // those who forget freed regions
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
  while (director_ != nullptr || !schedule_.empty()) {
    if (schedule_.picks() == kUnfairSteps) {
      schedule_.calm();
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
    finish_host_call(actor);
  } else if (!actor.busy()) {
    begin_op(actor);
  } else if (actor.done()) {  // it had nothing to do
    finish_operation(actor);
  } else if (perform(actor)) {
    note(actor, static_cast<std::uint64_t>(actor.strand.step().kind) << 8 | 1);
    actor.progress = {};
    if ((focus_ >> static_cast<std::uint32_t>(actor.strand.step().kind) & 1) && rng_.chance(50))
      schedule_.doze(actor.id);
    actor.strand.move_on();
    if (actor.done()) finish_operation(actor);
  }
}

void History::deliver(std::uint32_t channel) {
  std::uint32_t from = network_.from(channel);
  std::uint32_t to = network_.to(channel);
  protocol::Bytes message = network_.front(channel);
  bool flush = static_cast<wire::Kind>(message[0]) == wire::Kind::kFlush;
  if (flush && !deliver_flush(channel, message)) return;
  if (network_.wanted(channel) > 0) {
    if (!fill_grant(channel, message)) return;
    message = grants_[channel];
  }
  received_ = name_of_message(message);
  if (trace_)
    trace({.actor = fmt::format("node {}", to),
           .kind = "receives",
           .name = std::string(received_),
           .detail = fmt::format("from node {}", from)});
  outcome_.hash = (outcome_.hash ^ (channel + 0x100u + message.size())) * 0x100000001b3u;
  ++outcome_.messages;
  if (static_cast<wire::Kind>(message[0]) == wire::Kind::kFlushed) {
    deliver_flushed(to, message);
  } else if (static_cast<wire::Kind>(message[0]) == wire::Kind::kPageNews) {
    deliver_news(channel, message);
  } else if (!flush) {
    step_core(to, protocol::Received{NodeId{from}, message});
  }
  network_.pop(channel);
  if (network_.empty(channel)) schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  if (careful_) check_across();
}

// The home applies it piece by piece, and answers when all is stored; or it goes to another home.
bool History::deliver_flush(std::uint32_t channel, protocol::Bytes message) {
  std::uint32_t home = network_.to(channel);
  Mover::Applied applied = mover_.apply_flush(nodes_[home], message, flushed_[channel]);
  if (!applied.done) return false;
  flushed_[channel] = {};
  wire::Flush answer;
  std::memcpy(&answer, message.data(), sizeof answer);
  bool own = answer.origin == home;
  if (applied.next == NodeId{home} || (own && applied.next == kNoNode))
    violated(Fault::kBadStep, "node {} sends a difference to itself", home);
  if (applied.next != kNoNode) pass_on(home, applied, message);
  answer.kind = wire::Kind::kFlushed;
  answer.passed = applied.next != kNoNode;
  protocol::Bytes bytes = std::as_bytes(std::span(&answer, 1));
  if (own) {
    deliver_flushed(home, bytes);
  } else {
    push(home, answer.origin, bytes);
  }
  return true;
}

// Its sender puts in what was wanted piece by piece. That is done here, when the message is to
// arrive, as late as could be.
bool History::fill_grant(std::uint32_t channel, protocol::Bytes message) {
  std::uint32_t wanted = network_.wanted(channel);
  protocol::Bytes blocks = message.last(wanted * sizeof(std::uint64_t));
  std::vector<std::byte>& grant = grants_[channel];
  Progress& p = flushed_[channel];
  if (p.block == 0 && !p.begun)
    grant.assign(message.begin(), message.end() - static_cast<std::ptrdiff_t>(blocks.size()));
  std::uint64_t block = 0;
  std::memcpy(&block, blocks.data() + p.block * sizeof block, sizeof block);
  if (!mover_.grant(network_.from(channel), NodeId{network_.to(channel)}, block, p, grant))
    return false;
  p = {.block = p.block + 1};
  if (p.block < wanted) return false;
  p = {};
  return true;
}

void History::pass_on(std::uint32_t home, Mover::Applied to, protocol::Bytes message) {
  std::vector<std::byte> passed(message.begin(), message.end());
  std::uint32_t via = to.moved ? home : kNoNode.value;
  for (std::size_t at = sizeof(wire::Flush); at < passed.size(); at += sizeof(PostedWord))
    std::memcpy(passed.data() + at + offsetof(PostedWord, via), &via, sizeof via);
  wire::Flush head;
  std::memcpy(&head, passed.data(), sizeof head);
  head.was_passed = 1;
  std::memcpy(passed.data(), &head, sizeof head);
  push(home, to.next.value, passed);
}

void History::deliver_news(std::uint32_t channel, protocol::Bytes message) {
  using enum protocol::Mutant;
  std::uint32_t node = network_.to(channel);
  protocol::NewsPart part;
  if (!protocol::take_news_part(message, program_->setup.block_bytes, part) || !message.empty())
    violated(Fault::kMalformed, "node {} is sent news of a wrong size", node);
  pass_news_on(node, part);
  std::uint32_t from =
      protocol::mutant(kNewsOfWhoPassedThem) ? network_.from(channel) : part.head.home;
  nodes_[node].news().put({.from = NodeId{from},
                           .number = part.head.number,
                           .run = {part.head.block, part.head.blocks},
                           .tracked = part.head.tracked,
                           .same = part.head.same,
                           .gone = part.head.gone != 0,
                           .serials = part.serials,
                           .bytes = {part.bytes.begin(), part.bytes.end()}});
  for (auto& actor : actors_) {
    if (actor->node != node || actor->wait != Actor::Wait::kNews) continue;
    actor->wait = Actor::Wait::kNothing;
    schedule_.ready(actor->id);
  }
}

// To the readers that are left to this node, whether it waits for them itself or not.
void History::pass_news_on(std::uint32_t node, const protocol::NewsPart& part) {
  using enum protocol::Mutant;
  if (part.further.empty()) return;
  const wire::PageNews& head = part.head;
  bool expects =
      nodes_[node].hlrc().expects(NodeId{head.home}, {head.block, head.blocks}, head.number);
  if (!expects && protocol::mutant(kNewsEndWhereUnread)) return;
  if (head.gone != 0 && protocol::mutant(kNewsGoneUntold)) return;
  protocol::mark(protocol::Mark::kNewsPassedOn);
  if (!expects) protocol::mark(protocol::Mark::kNewsPassedOnByOthers);
  if (head.gone != 0) protocol::mark(protocol::Mark::kNewsGonePassedOn);
  send_news(node, part);
}

void History::deliver_flushed(std::uint32_t node, protocol::Bytes message) {
  wire::Flush answer;
  wire::take(message, answer);
  Actor& actor = *actors_[answer.waiter];
  if (answer.was_passed != 0) {
    if (protocol::mutant(protocol::Mutant::kPassOnUnawaited)) return;
    if (answer.passed == answer.was_passed) return;  // perhaps after all others
  }
  bool sent = actor.node == node && (answer.was_passed != 0 || actor.flights > 0);
  if (!sent) violated(Fault::kBadStep, "node {} is told of a flush that it did not send", node);
  if (answer.was_passed == 0) --actor.flights;
  bool counts = !protocol::mutant(protocol::Mutant::kPassOnUnawaited);
  if (counts) actor.passed += static_cast<int>(answer.passed) - answer.was_passed;
  if (!actor.flushed() || actor.wait != Actor::Wait::kFlushed) return;
  actor.wait = Actor::Wait::kNothing;
  schedule_.ready(actor.id);
}

// Everything is done or blocked.
void History::finish_check() {
  if (running_ > 0) {
    std::string who;
    for (std::uint32_t t = 0; t < program_->threads(); ++t) {
      const Actor& actor = *actors_[t];
      if (actor.next >= program_->ops[t].size()) continue;
      who += fmt::format("; node {} thread {} in {}", actor.node, t,
                         describe(*program_, op_of(actor)));
      if (actor.busy()) who += fmt::format(" at {}", describe(actor.strand.step()));
    }
    violated(Fault::kDeadlock, "nothing can happen any more, and {} threads have not ended{}",
             running_, who);
  }
  for (auto& actor : actors_)
    if (actor->busy()) violated(Fault::kDeadlock, "a handler is still waiting at the end");
  check_across();
}

}  // namespace terrane::sim
