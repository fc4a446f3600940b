#include "sim/chunks/chunk_history.h"

#include <algorithm>

#include "sim/chunks/chunk_names.h"

namespace terrane::sim {

ChunkOutcome ChunkHistory::run(const ChunkProgram& program, std::uint64_t seed, bool careful,
                               Trace* trace) {
  careful_ = careful;
  trace_ = trace;
  outcome_ = ChunkOutcome{};
  outcome_.violation = violation_of([&] {
    begin(program, seed);
    loop();
    finish_check();
  });
  outcome_.steps = schedule_.picks();
  return outcome_;
}

void ChunkHistory::begin(const ChunkProgram& program, std::uint64_t seed) {
  program_ = &program;
  rng_ = base::Prng(seed);
  network_.begin(program.nodes);
  checker_.begin(program);
  draw_mood();
  ids_.fill(chunks::kNoChunk);
  numbers_.clear();
  gone_.clear();
  unheard_.clear();
  meetings_ = {};
  come_ = {};
  hushed_ = kNobody;
  waiting_to_act_.clear();
  deaths_ = joins_ = 0;
  views_.assign(1, {.epoch = 1});
  for (std::uint32_t s = 0; s < program.slots; ++s)
    views_[0].slots.push_back({.home = NodeId{s % program.servers}});
  clusters_ = program.clusters.empty() ? nullptr
                                       : std::make_unique<const protocol::Clusters>(
                                             program.nodes, nullptr, program.clusters.data());
  views_[0].names = program.slots;
  for (std::uint32_t n = 0; n < program.nodes; ++n) views_[0].slots.push_back({.home = NodeId{n}});
  nodes_.clear();
  nodes_.resize(program.nodes);
  for (std::uint32_t n = 0; n < program.nodes; ++n) {
    nodes_[n].memory.begin(n);
    nodes_[n].machine =
        std::make_unique<chunks::MesiChunk>(chunks::MesiConfig{.self = NodeId{n},
                                                               .budget_bytes = program.budget_bytes,
                                                               .relay_bytes = program.relay_bytes,
                                                               .clusters = clusters_.get()});
    for (const ChunkProgram::Change& join : program.joins)
      if (join.node == n) nodes_[n].alive = false;
    if (nodes_[n].alive) views_[0].members.push_back(NodeId{n});
  }
  for (std::uint32_t n = 0; n < program.nodes; ++n)
    if (nodes_[n].alive) tell(n);
  running_ = program.threads();
  threads_.assign(running_, {});
  for (std::uint32_t t = 0; t < running_; ++t) {
    threads_[t].node = program.thread_node[t];
    threads_[t].id.fill(chunks::kNoChunk);
    if (nodes_[threads_[t].node].alive) schedule_.ready(static_cast<ActorId>(t));
  }
}

void ChunkHistory::draw_mood() {
  auto mood = static_cast<Mood>(rng_.below(static_cast<std::uint32_t>(Mood::kCount)));
  schedule_.begin(rng_, mood);
  if (mood != Mood::kSlow) return;
  std::uint32_t node = rng_.below(program_->nodes);
  std::uint32_t what = rng_.below(3);
  for (std::uint32_t t = 0; what == 0 && t < program_->threads(); ++t)
    if (program_->thread_node[t] == node) schedule_.set_slow(static_cast<ActorId>(t));
  for (std::uint32_t c = 0; what > 0 && c < network_.channels(); ++c)
    if (what == 1 ? network_.from(c) == node : rng_.chance(30))
      schedule_.set_slow(static_cast<ActorId>(kFirstChannel + c));
}

void ChunkHistory::loop() {
  for (;;) {
    if (schedule_.picks() > kMaxSteps)
      violated(Fault::kEndless, "more than {} steps: somebody goes round in circles", kMaxSteps);
    changes();
    if (schedule_.empty() && hushed_ != kNobody)
      violated(Fault::kDeadlock, "thread {} waits for other threads in {}", hushed_,
               describe(program_->ops[hushed_][threads_[hushed_].next]));
    if (schedule_.empty()) return;
    ActorId id = schedule_.pick();
    if (id >= kFirstNews && id < kFirstChannel) {
      tell(static_cast<std::uint32_t>(id - kFirstNews));
    } else if (id >= kFirstChannel) {
      deliver(static_cast<std::uint32_t>(id - kFirstChannel));
    } else if (id >= kFirstClock) {
      tick(static_cast<std::uint32_t>(id - kFirstClock));
    } else {
      act(id);
    }
  }
}

void ChunkHistory::deliver(std::uint32_t channel) {
  std::uint32_t from = network_.from(channel);
  std::uint32_t to = network_.to(channel);
  protocol::Bytes front = network_.front(channel);
  message_.assign(front.begin(), front.end());
  network_.pop(channel);
  if (network_.empty(channel)) schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  if (!nodes_[to].alive && !nodes_[to].undead) return;
  if (trace_)
    trace_->add(schedule_.picks(), "node {} <- {}: {}", to, from, describe_chunk_message(message_));
  ++outcome_.messages;
  note((channel + 0x100u) << 8 | static_cast<std::uint32_t>(message_[0]));
  step(to, chunks::Received{NodeId{from}, message_});
}

// The node's time advances to its next deadline, whenever the schedule chooses to.
void ChunkHistory::tick(std::uint32_t n) {
  Node& node = nodes_[n];
  node.now_ns = std::max(node.now_ns, node.machine->next_deadline_ns());
  step(n, chunks::Elapsed{node.now_ns});
}

// Each chunk has either one owner or sharers.
void ChunkHistory::check_across() const {
  for (std::uint32_t c = 0; c < program_->all.size(); ++c) {
    std::uint32_t owners = 0, sharers = 0;
    for (const Node& node : nodes_) {
      const chunks::ChunkCache::Copy* copy =
          node.alive ? node.machine->cache().copy(ids_[c]) : nullptr;
      if (!copy || copy->state == chunks::State::kInvalid) continue;
      ++(copy->state == chunks::State::kShared ? sharers : owners);
    }
    if (owners > 1 || (owners == 1 && sharers > 0))
      violated(Fault::kInvariant, "chunk {} has {} owners and {} sharers", c, owners, sharers);
  }
}

void ChunkHistory::finish_check() {
  for (std::uint32_t c = 0; c < program_->all.size(); ++c) {
    if (!pushed_death(c) || ids_[c] == chunks::kNoChunk) continue;
    NodeId home = chunks::home_of(ids_[c], views_.back());
    if (nodes_[home.value].machine->home().entry(ids_[c]) == nullptr) check_told(c);
  }
  std::string who;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    bool sleeps = !threads_[t].waits && nodes_[threads_[t].node].alive &&
                  threads_[t].next < program_->ops[t].size();
    if (!threads_[t].waits && !sleeps) continue;
    const ChunkOp& op = program_->ops[t][threads_[t].next];
    if (op.kind == ChunkOpKind::kTakeAll && writers_done(op.chunk)) {
      if (pushed_death(op.chunk)) truncate_to_home(op.chunk);
      if (checker_.took_last(t, op.chunk)) continue;
      violated(Fault::kWrongValue, "thread {} waits for version {} of chunk {}, the last", t,
               checker_.last_version(op.chunk), op.chunk);
    }
    who += fmt::format("; thread {} in {}", t, describe(op));
  }
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (nodes_[n].leaves && nodes_[n].alive) who += fmt::format("; node {} wants to leave", n);
  if (!who.empty()) violated(Fault::kDeadlock, "nothing can happen any more{}", who);
}

}  // namespace terrane::sim
