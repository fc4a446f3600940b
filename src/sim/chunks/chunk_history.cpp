#include "sim/chunks/chunk_history.h"

#include <algorithm>
#include <cstring>

#include "base/overloaded.h"
#include "sim/chunks/chunk_names.h"

namespace terrane::sim {

using chunks::Mode;
using chunks::Status;

ChunkOutcome ChunkHistory::run(const ChunkProgram& program, std::uint64_t seed, bool careful,
                               Trace* trace) {
  careful_ = careful;
  trace_ = trace;
  outcome_ = ChunkOutcome{};
  try {
    begin(program, seed);
    loop();
    finish_check();
  } catch (const Violation& violation) {
    outcome_.violation = violation;
  } catch (const protocol::BrokenInvariant& broken) {
    outcome_.violation = {
        Fault::kInvariant,
        fmt::format("{} ({}, {}:{})", broken.why, broken.condition, broken.file, broken.line)};
  }
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
  view_ = {.epoch = 1};
  for (std::uint32_t n = 0; n < program.nodes; ++n) view_.members.push_back(NodeId{n});
  for (std::uint32_t s = 0; s < program.slots; ++s)
    view_.slots.push_back({.home = NodeId{s % program.servers}});
  nodes_.clear();
  nodes_.resize(program.nodes);
  for (std::uint32_t n = 0; n < program.nodes; ++n) {
    nodes_[n].machine = std::make_unique<chunks::MesiChunk>(
        chunks::MesiConfig{.self = NodeId{n}, .budget_bytes = program.budget_bytes});
    step(n, chunks::ViewChanged{&view_});
  }
  running_ = program.threads();
  threads_.assign(running_, {});
  for (std::uint32_t t = 0; t < running_; ++t) {
    threads_[t].node = program.thread_node[t];
    schedule_.ready(static_cast<ActorId>(t));
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
  while (!schedule_.empty()) {
    if (schedule_.picks() > kMaxSteps)
      violated(Fault::kEndless, "more than {} steps: somebody goes round in circles", kMaxSteps);
    ActorId id = schedule_.pick();
    if (id >= kFirstChannel) {
      deliver(static_cast<std::uint32_t>(id - kFirstChannel));
    } else if (id >= kFirstClock) {
      tick(static_cast<std::uint32_t>(id - kFirstClock));
    } else {
      act(id);
    }
  }
}

void ChunkHistory::act(std::uint32_t t) {
  Thread& thread = threads_[t];
  const std::vector<ChunkOp>& ops = program_->ops[t];
  if (thread.next == ops.size()) {
    --running_;
    schedule_.park(static_cast<ActorId>(t));
    return;
  }
  const ChunkOp& op = ops[thread.next];
  bool scope = op.kind == ChunkOpKind::kWork || op.kind == ChunkOpKind::kClose;
  if (scope && !thread.open[op.chunk]) {
    ++thread.next;
    return;
  }
  if (trace_) trace_->add(schedule_.picks(), "node {} thread {}: {}", thread.node, t, describe(op));
  note(t << 8 | static_cast<std::uint32_t>(op.kind));
  if (op.kind == ChunkOpKind::kWork) {
    work(t, op);
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kClose) {
    close(t, op);
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kDrop) {
    ++thread.next;
    if (ids_[op.chunk] != chunks::kNoChunk) step(thread.node, chunks::Drop{ids_[op.chunk]});
  } else {
    thread.waits = true;
    schedule_.park(static_cast<ActorId>(t));
    start(t, op);
  }
}

// Operations that are answered.
void ChunkHistory::start(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  protocol::WaiterId waiter{t};
  std::uint64_t deadline = op.patience ? nodes_[thread.node].now_ns + op.patience : chunks::kNever;
  const ChunkProgram::Chunk& chunk = program_->all[op.chunk];
  switch (op.kind) {
    case ChunkOpKind::kCreate:
      step(thread.node,
           chunks::Create{chunk.name, 8 * chunk.words, chunks::Coherence::kInvalidate, waiter});
      return;
    case ChunkOpKind::kCreateOther:
      step(thread.node, chunks::Create{chunk.name, 999, chunks::Coherence::kInvalidate, waiter});
      return;
    case ChunkOpKind::kFind:
      step(thread.node, chunks::Find{chunk.name, true, deadline, waiter});
      return;
    case ChunkOpKind::kFindNothing:
      step(thread.node, chunks::Find{"nothing", op.patience > 0, deadline, waiter});
      return;
    default:
      step(thread.node, chunks::Open{ids_[op.chunk], op.mode, op.wait, deadline, waiter});
      return;
  }
}

void ChunkHistory::work(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  if (op.mode == Mode::kRead) {
    checker_.looks(t, op.chunk, words(thread.node, op.chunk));
    return;
  }
  std::uint32_t& at = thread.at[op.chunk];
  if (at < program_->all[op.chunk].words)
    nodes_[thread.node].memory[op.chunk].words[at++] = thread.stamp[op.chunk];
}

void ChunkHistory::close(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  thread.open[op.chunk] = false;
  if (op.mode == Mode::kRead) {
    checker_.looks(t, op.chunk, words(thread.node, op.chunk));
  } else {
    for (std::uint32_t w = thread.at[op.chunk]; w < program_->all[op.chunk].words; ++w)
      nodes_[thread.node].memory[op.chunk].words[w] = thread.stamp[op.chunk];
  }
  checker_.closed(t, op.chunk, op.mode, thread.stamp[op.chunk]);
  step(thread.node, chunks::Close{ids_[op.chunk], op.mode});
}

// Time passes as far as the next deadline, whenever the schedule likes.
void ChunkHistory::tick(std::uint32_t n) {
  Node& node = nodes_[n];
  node.now_ns = std::max(node.now_ns, node.machine->next_deadline_ns());
  step(n, chunks::Elapsed{node.now_ns});
}

void ChunkHistory::deliver(std::uint32_t channel) {
  std::uint32_t from = network_.from(channel);
  std::uint32_t to = network_.to(channel);
  protocol::Bytes front = network_.front(channel);
  message_.assign(front.begin(), front.end());
  network_.pop(channel);
  if (network_.empty(channel)) schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  if (trace_)
    trace_->add(schedule_.picks(), "node {} <- {}: {}", to, from, describe_chunk_message(message_));
  ++outcome_.messages;
  note((channel + 0x100u) << 8 | static_cast<std::uint32_t>(message_[0]));
  step(to, chunks::Received{NodeId{from}, message_});
}

void ChunkHistory::step(std::uint32_t n, const chunks::Event& event) {
  effects_.clear();
  nodes_[n].machine->step(event, effects_);
  perform(n, effects_);
  if (careful_) {
    nodes_[n].machine->check_invariants();
    check_across();
  }
  auto clock = static_cast<ActorId>(kFirstClock + n);
  if (nodes_[n].machine->next_deadline_ns() == chunks::kNever) {
    schedule_.park(clock);
  } else {
    schedule_.ready(clock);
  }
}

void ChunkHistory::perform(std::uint32_t n, const chunks::Effects& effects) {
  for (const auto& effect : effects.list) {
    std::visit(
        base::Overloaded{
            [&](const chunks::Send& e) { send(n, effects, e); },
            [&](const chunks::Resume& e) { resume(n, e); },
            [&](const chunks::Provide& e) {
              Memory& memory = nodes_[n].memory[index_of(e.chunk)];
              if (!memory.there) memory.words.fill(0);
              memory.there = true;
            },
            [&](const chunks::Install& e) {
              std::uint32_t chunk = index_of(e.chunk);
              if (e.bytes.size() != 8 * program_->all[chunk].words)
                violated(Fault::kBadStep, "node {} is given bytes that do not fit", n);
              std::memcpy(nodes_[n].memory[chunk].words.data(), e.bytes.data(), e.bytes.size());
            },
            [&](const chunks::Discard& e) {
              Memory& memory = nodes_[n].memory[index_of(e.chunk)];
              memory.there = false;
              memory.words.fill(0xdeadull);
            },
            [&](const chunks::Malformed& e) {
              violated(Fault::kMalformed, "node {} refuses a message of node {}", n, e.from.value);
            }},
        effect);
  }
}

void ChunkHistory::send(std::uint32_t n, const chunks::Effects& effects, const chunks::Send& send) {
  static thread_local std::vector<std::byte> bytes;
  auto head = std::span(effects.bytes).subspan(send.offset, send.size);
  bytes.assign(head.begin(), head.end());
  if (send.with_data) {
    auto data = std::as_bytes(words(n, index_of(send.chunk)));
    bytes.insert(bytes.end(), data.begin(), data.end());
  }
  std::uint32_t channel = network_.channel(n, send.to.value);
  network_.push(channel, bytes);
  schedule_.ready(static_cast<ActorId>(kFirstChannel + channel));
}

void ChunkHistory::resume(std::uint32_t n, const chunks::Resume& resume) {
  std::uint32_t t = resume.waiter.value;
  if (t >= threads_.size() || threads_[t].node != n || !threads_[t].waits)
    violated(Fault::kBadAnswer, "node {} resumes {}, who does not wait", n, t);
  Thread& thread = threads_[t];
  const ChunkOp& op = program_->ops[t][thread.next];
  if (trace_)
    trace_->add(schedule_.picks(), "node {} thread {}: {} -> {}, version {}", n, t, describe(op),
                name_of(resume.status), resume.version);
  note(t << 8 | static_cast<std::uint32_t>(resume.status));
  thread.waits = false;
  ++thread.next;
  schedule_.ready(static_cast<ActorId>(t));
  if (op.kind != ChunkOpKind::kOpen) {
    learn(t, op, resume);
    return;
  }
  bool may = resume.status == Status::kOk ||
             (resume.status == Status::kBusy && op.wait == chunks::Wait::kTry) ||
             (resume.status == Status::kTimedOut && op.patience > 0) ||
             resume.status == Status::kNoMemory;
  if (!may)
    violated(Fault::kBadAnswer, "thread {}: {} answers {}", t, describe(op),
             name_of(resume.status));
  if (resume.status != Status::kOk) return;
  ++outcome_.scopes;
  thread.open[op.chunk] = true;
  thread.at[op.chunk] = 0;
  thread.stamp[op.chunk] = static_cast<std::uint64_t>(t + 1) << 32 | ++thread.stamps;
  checker_.opened(t, op.chunk, op.mode, resume.version, words(n, op.chunk));
}

void ChunkHistory::learn(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  if (op.kind == ChunkOpKind::kFindNothing) {
    if (resume.status != (op.patience ? Status::kTimedOut : Status::kUnknown))
      violated(Fault::kBadAnswer, "thread {} finds what is not there", t);
    return;
  }
  if (op.kind == ChunkOpKind::kCreateOther) {
    if (resume.status != Status::kMismatch)
      violated(Fault::kBadAnswer, "thread {} creates a chunk twice", t);
    return;
  }
  if (resume.status != Status::kOk &&
      !(resume.status == Status::kExisted && op.kind == ChunkOpKind::kCreate))
    violated(Fault::kBadAnswer, "thread {}: {} answers {}", t, describe(op),
             name_of(resume.status));
  if (index_of(resume.chunk) != op.chunk)
    violated(Fault::kBadAnswer, "thread {}: {} answers another chunk", t, describe(op));
}

// A home has its chunk before anybody is told of it.
std::uint32_t ChunkHistory::index_of(chunks::ChunkId id) {
  for (std::uint32_t c = 0; c < kMaxChunks; ++c)
    if (ids_[c] == id) return c;
  for (const Node& node : nodes_) {
    const chunks::ChunkHome::Entry* entry = node.machine->home().entry(id);
    for (std::uint32_t c = 0; entry && c < program_->all.size(); ++c) {
      if (program_->all[c].name != entry->name) continue;
      ids_[c] = id;
      return c;
    }
  }
  violated(Fault::kBadStep, "nobody knows chunk {:x}", id.value);
}

// One owner, or sharers.
void ChunkHistory::check_across() const {
  for (std::uint32_t c = 0; c < program_->all.size(); ++c) {
    std::uint32_t owners = 0, sharers = 0;
    for (const Node& node : nodes_) {
      const chunks::ChunkCache::Copy* copy =
          node.machine ? node.machine->cache().copy(ids_[c]) : nullptr;
      if (!copy || copy->state == chunks::State::kInvalid) continue;
      ++(copy->state == chunks::State::kShared ? sharers : owners);
    }
    if (owners > 1 || (owners == 1 && sharers > 0))
      violated(Fault::kInvariant, "chunk {} has {} owners and {} sharers", c, owners, sharers);
  }
}

void ChunkHistory::finish_check() {
  if (running_ == 0) return;
  std::string who;
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].waits)
      who += fmt::format("; thread {} in {}", t, describe(program_->ops[t][threads_[t].next]));
  violated(Fault::kDeadlock, "nothing can happen any more, and {} threads wait{}", running_, who);
}

}  // namespace terrane::sim
