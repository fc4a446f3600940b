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
  bool scope = op.kind == ChunkOpKind::kWork || op.kind == ChunkOpKind::kClose ||
               op.kind == ChunkOpKind::kEndTake;
  bool needs = op.kind == ChunkOpKind::kUnsubscribe || op.kind == ChunkOpKind::kTake ||
               op.kind == ChunkOpKind::kTakeAll;
  if (needs && !thread.subscribed) {
    ++thread.next;
    return;
  }
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
  } else if (op.kind == ChunkOpKind::kEndTake) {
    close_take(t, op.chunk);
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kTakeAll && thread.open[op.chunk]) {
    close_take(t, op.chunk);
  } else if (op.kind == ChunkOpKind::kTakeAll && writers_done(op.chunk) &&
             checker_.took_last(t, op.chunk)) {
    ++thread.next;
  } else if (op.kind == ChunkOpKind::kUnsubscribe) {
    ++thread.next;
    thread.subscribed = false;
    step(thread.node, chunks::Unsubscribe{ids_[op.chunk]});
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
      step(thread.node, chunks::Create{chunk.name, 8 * chunk.words, chunk.coherence, waiter});
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
    case ChunkOpKind::kSubscribe:
      step(thread.node, chunks::Subscribe{ids_[op.chunk], op.policy, op.window, waiter});
      return;
    case ChunkOpKind::kTake:
    case ChunkOpKind::kTakeAll:
      step(thread.node, chunks::Take{ids_[op.chunk], op.wait, deadline, waiter});
      return;
    default:
      step(thread.node, chunks::Open{ids_[op.chunk], op.mode, op.wait, deadline, waiter});
      return;
  }
}

void ChunkHistory::work(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  std::uint32_t c = op.chunk;
  if (op.mode == Mode::kRead) {
    checker_.looks(t, c, thread.version[c], words(thread.node, c, thread.place[c]));
    return;
  }
  std::uint32_t& at = thread.at[c];
  if (at < program_->all[c].words)
    memory(thread.node, c, thread.place[c]).words[at++] = thread.stamp[c];
}

void ChunkHistory::close(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  std::uint32_t c = op.chunk;
  thread.open[c] = false;
  if (op.mode == Mode::kRead) {
    checker_.looks(t, c, thread.version[c], words(thread.node, c, thread.place[c]));
  } else {
    for (std::uint32_t w = thread.at[c]; w < program_->all[c].words; ++w)
      memory(thread.node, c, thread.place[c]).words[w] = thread.stamp[c];
  }
  checker_.closed(t, c, op.mode, thread.stamp[c]);
  step(thread.node, chunks::Close{ids_[c], op.mode, thread.place[c]});
}

void ChunkHistory::close_take(std::uint32_t t, std::uint32_t chunk) {
  close(t, {.kind = ChunkOpKind::kClose, .chunk = static_cast<std::uint8_t>(chunk)});
}

bool ChunkHistory::writers_done(std::uint32_t chunk) const {
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    for (std::size_t i = threads_[t].next; i < program_->ops[t].size(); ++i) {
      const ChunkOp& op = program_->ops[t][i];
      if (op.kind == ChunkOpKind::kClose && op.chunk == chunk && op.mode != Mode::kRead)
        return false;
    }
  return true;
}

ChunkHistory::Memory& ChunkHistory::memory(std::uint32_t node, std::uint32_t chunk,
                                           chunks::Place place) {
  constexpr std::uint32_t kHomes = 6;
  std::uint32_t at = place.value >= chunks::kHomePlaces
                         ? place.value - chunks::kHomePlaces + kMaxPlaces - kHomes
                         : place.value;
  if (at >= kMaxPlaces || (place.value < chunks::kHomePlaces && at >= kMaxPlaces - kHomes))
    violated(Fault::kBadStep, "node {} uses place {} of chunk {}", node, place.value, chunk);
  return nodes_[node].memory[chunk][at];
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
            [&](const chunks::Resume& e) { resume(n, e); }, [&](const chunks::Notify&) {},
            [&](const chunks::Provide& e) {
              Memory& place = memory(n, index_of(e.chunk), e.place);
              if (!place.there) place.words.fill(0);
              place.there = true;
            },
            [&](const chunks::Install& e) {
              std::uint32_t chunk = index_of(e.chunk);
              if (e.bytes.size() != 8 * program_->all[chunk].words)
                violated(Fault::kBadStep, "node {} is given bytes that do not fit", n);
              std::memcpy(memory(n, chunk, e.place).words.data(), e.bytes.data(), e.bytes.size());
            },
            [&](const chunks::CopyBytes& e) {
              std::uint32_t chunk = index_of(e.chunk);
              memory(n, chunk, e.to).words = memory(n, chunk, e.from).words;
            },
            [&](const chunks::Discard& e) {
              Memory& place = memory(n, index_of(e.chunk), e.place);
              place.there = false;
              place.words.fill(0xdeadull);
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
    auto data = std::as_bytes(words(n, index_of(send.chunk), send.place));
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
  if (op.kind != ChunkOpKind::kTakeAll) ++thread.next;
  schedule_.ready(static_cast<ActorId>(t));
  if (!allowed(op, resume.status))
    violated(Fault::kBadAnswer, "thread {}: {} answers {}", t, describe(op),
             name_of(resume.status));
  if (op.kind == ChunkOpKind::kSubscribe) {
    thread.subscribed = resume.status == Status::kOk;
    if (thread.subscribed) checker_.subscribed(t, op.chunk, op.policy);
  } else if (op.kind == ChunkOpKind::kTake || op.kind == ChunkOpKind::kTakeAll) {
    if (resume.status == Status::kOk) took(t, op, resume);
  } else if (op.kind != ChunkOpKind::kOpen) {
    learn(t, op, resume);
  } else if (resume.status == Status::kOk) {
    ++outcome_.scopes;
    thread.open[op.chunk] = true;
    thread.at[op.chunk] = 0;
    thread.version[op.chunk] = resume.version;
    thread.place[op.chunk] = resume.place;
    thread.stamp[op.chunk] = static_cast<std::uint64_t>(t + 1) << 32 | ++thread.stamps;
    checker_.opened(t, op.chunk, op.mode, resume.version, words(n, op.chunk, resume.place));
  }
}

bool ChunkHistory::allowed(const ChunkOp& op, Status status) const {
  switch (op.kind) {
    case ChunkOpKind::kCreate:
      return status == Status::kOk || status == Status::kExisted;
    case ChunkOpKind::kCreateOther:
      return status == Status::kMismatch;
    case ChunkOpKind::kFind:
      return status == Status::kOk;
    case ChunkOpKind::kFindNothing:
      return status == (op.patience ? Status::kTimedOut : Status::kUnknown);
    case ChunkOpKind::kSubscribe:
      return status == Status::kOk || status == Status::kNoMemory;
    default:
      return status == Status::kOk || (status == Status::kBusy && op.wait == chunks::Wait::kTry) ||
             (status == Status::kTimedOut && op.patience > 0) ||
             (status == Status::kNoMemory && op.kind == ChunkOpKind::kOpen);
  }
}

void ChunkHistory::took(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  ++outcome_.scopes;
  thread.open[op.chunk] = true;
  thread.version[op.chunk] = resume.version;
  thread.place[op.chunk] = resume.place;
  checker_.took(t, op.chunk, resume.version, resume.missed,
                words(thread.node, op.chunk, resume.place));
}

void ChunkHistory::learn(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  if (op.kind != ChunkOpKind::kCreate && op.kind != ChunkOpKind::kFind) return;
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
  std::string who;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    if (!threads_[t].waits) continue;
    const ChunkOp& op = program_->ops[t][threads_[t].next];
    if (op.kind == ChunkOpKind::kTakeAll && writers_done(op.chunk)) {
      if (checker_.took_last(t, op.chunk)) continue;
      violated(Fault::kWrongValue, "thread {} waits for version {} of chunk {}, the last", t,
               checker_.last_version(op.chunk), op.chunk);
    }
    who += fmt::format("; thread {} in {}", t, describe(op));
  }
  if (!who.empty()) violated(Fault::kDeadlock, "nothing can happen any more{}", who);
}

}  // namespace terrane::sim
