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
  numbers_.clear();
  deaths_ = joins_ = 0;
  views_.assign(1, {.epoch = 1});
  for (std::uint32_t s = 0; s < program.slots; ++s)
    views_[0].slots.push_back({.home = NodeId{s % program.servers}});
  nodes_.clear();
  nodes_.resize(program.nodes);
  for (std::uint32_t n = 0; n < program.nodes; ++n) {
    nodes_[n].machine = std::make_unique<chunks::MesiChunk>(
        chunks::MesiConfig{.self = NodeId{n}, .budget_bytes = program.budget_bytes});
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

// ---- Who lives

void ChunkHistory::changes() {
  for (const ChunkProgram::Change& death : program_->deaths)
    if (schedule_.picks() >= death.step && nodes_[death.node].alive) kill(death.node);
  for (const ChunkProgram::Change& join : program_->joins)
    if ((schedule_.picks() >= join.step || schedule_.empty()) && nodes_[join.node].views == 0)
      this->join(join.node);
}

// What it had sent may come or not, but nothing without what was sent before it.
void ChunkHistory::kill(std::uint32_t n) {
  ++deaths_;
  nodes_[n].alive = false;
  if (trace_) trace_->add(schedule_.picks(), "node {} dies", n);
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].node != n) continue;
    schedule_.park(static_cast<ActorId>(t));
    threads_[t].waits = false;
    for (std::uint32_t c = 0; c < kMaxChunks; ++c)
      if (threads_[t].open[c] && !threads_[t].stale[c]) checker_.died(c, threads_[t].mode[c]);
  }
  schedule_.park(static_cast<ActorId>(kFirstClock + n));
  schedule_.park(static_cast<ActorId>(kFirstNews + n));
  for (std::uint32_t m = 0; m < program_->nodes; ++m) {
    std::uint32_t channel = network_.channel(n, m);
    if (!rng_.chance(50)) continue;
    while (!network_.empty(channel)) network_.pop(channel);
    schedule_.park(static_cast<ActorId>(kFirstChannel + channel));
  }
  checker_.forget_node(n);
  publish_view();
}

void ChunkHistory::join(std::uint32_t n) {
  ++joins_;
  nodes_[n].alive = true;
  if (trace_) trace_->add(schedule_.picks(), "node {} joins", n);
  publish_view();
  tell(n);
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].node == n) schedule_.ready(static_cast<ActorId>(t));
}

// The next living server takes what a dead one had.
void ChunkHistory::publish_view() {
  chunks::View view = views_.back();
  ++view.epoch;
  view.members.clear();
  for (std::uint32_t n = 0; n < program_->nodes; ++n)
    if (nodes_[n].alive) view.members.push_back(NodeId{n});
  for (chunks::View::Slot& slot : view.slots) {
    if (nodes_[slot.home.value].alive) continue;
    while (!nodes_[slot.home.value].alive)
      slot.home = NodeId{(slot.home.value + 1) % program_->servers};
    slot.since = view.epoch;
  }
  views_.push_back(view);
  for (std::uint32_t n = 0; n < program_->nodes; ++n)
    if (nodes_[n].alive && nodes_[n].views > 0)
      schedule_.ready(static_cast<ActorId>(kFirstNews + n));
}

// One view later, or the last one; the first is the last that there is.
void ChunkHistory::tell(std::uint32_t n) {
  std::size_t& views = nodes_[n].views;
  views = views == 0 || rng_.chance(30) ? views_.size() : views + 1;
  if (trace_) trace_->add(schedule_.picks(), "node {} is told of view {}", n, views);
  step(n, chunks::ViewChanged{&views_[views - 1]});
  if (views == views_.size()) schedule_.park(static_cast<ActorId>(kFirstNews + n));
}

void ChunkHistory::lost(const chunks::Lost& lost) {
  std::uint32_t c = index_of(lost.chunk);
  if (trace_)
    trace_->add(schedule_.picks(), "chunk {}: version {} is from now on {}", c, lost.from,
                lost.version);
  if (lost.name != program_->all[c].name)
    violated(Fault::kBadAnswer, "chunk {} is told to be {}", c, lost.name);
  if (program_->all[c].pushed()) return;  // it is gone
  for (const Node& node : nodes_) {
    const chunks::ChunkCache::Copy* copy =
        node.alive ? node.machine->cache().copy(lost.chunk) : nullptr;
    if (!copy || copy->pushed() || !copy->has_bytes || copy->version >= lost.version) continue;
    if (lost.from == chunks::Lost::kNothing || copy->version > lost.from)
      violated(Fault::kWrongValue, "chunk {} goes back to {} though version {} is left", c,
               lost.from, copy->version);
  }
  checker_.lost(c, lost.from, lost.version);
}

bool ChunkHistory::pushed_death(std::uint32_t chunk) const {
  return deaths_ > 0 && program_->all[chunk].pushed();
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
    step(thread.node, chunks::Unsubscribe{thread.id[op.chunk]});
  } else if (op.kind == ChunkOpKind::kDrop) {
    ++thread.next;
    step(thread.node, chunks::Drop{thread.id[op.chunk]});
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
      step(thread.node, chunks::Subscribe{thread.id[op.chunk], op.policy, op.window, waiter});
      return;
    case ChunkOpKind::kTake:
    case ChunkOpKind::kTakeAll:
      step(thread.node, chunks::Take{thread.id[op.chunk], op.wait, deadline, waiter});
      return;
    default:
      step(thread.node, chunks::Open{thread.id[op.chunk], op.mode, op.wait, deadline, waiter});
      return;
  }
}

void ChunkHistory::work(std::uint32_t t, const ChunkOp& op) {
  Thread& thread = threads_[t];
  std::uint32_t c = op.chunk;
  if (op.mode == Mode::kRead) {
    if (!thread.stale[c])
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
    if (!thread.stale[c])
      checker_.looks(t, c, thread.version[c], words(thread.node, c, thread.place[c]));
  } else {
    for (std::uint32_t w = thread.at[c]; w < program_->all[c].words; ++w)
      memory(thread.node, c, thread.place[c]).words[w] = thread.stamp[c];
  }
  if (!thread.stale[c]) checker_.closed(t, c, op.mode, thread.stamp[c]);
  thread.stale[c] = false;
  step(thread.node, chunks::Close{thread.id[c], op.mode, thread.place[c]});
}

void ChunkHistory::close_take(std::uint32_t t, std::uint32_t chunk) {
  close(t, {.kind = ChunkOpKind::kClose, .chunk = static_cast<std::uint8_t>(chunk)});
}

bool ChunkHistory::writers_done(std::uint32_t chunk) const {
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    for (std::size_t i = threads_[t].next; !dead(threads_[t].node) && i < program_->ops[t].size();
         ++i) {
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
  if (!nodes_[to].alive) return;
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
            [&](const chunks::Lost& e) { lost(e); },
            [&](const chunks::Provide& e) {
              Memory& place = memory(n, index_of(e.chunk), e.place);
              if (!place.there || place.id != e.chunk) place.words.fill(0);
              place.there = true;
              place.id = e.chunk;
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
    if (resume.status == Status::kNotSubscribed) thread.subscribed = false;
  } else if (op.kind != ChunkOpKind::kOpen) {
    learn(t, op, resume);
  } else if (resume.status == Status::kOk) {
    ++outcome_.scopes;
    thread.open[op.chunk] = true;
    thread.at[op.chunk] = 0;
    thread.version[op.chunk] = resume.version;
    thread.mode[op.chunk] = op.mode;
    thread.place[op.chunk] = resume.place;
    if (pushed_death(op.chunk) && op.mode != Mode::kRead &&
        resume.version < checker_.last_version(op.chunk))
      checker_.truncate(op.chunk, resume.version);
    thread.stamp[op.chunk] = static_cast<std::uint64_t>(t + 1) << 32 | ++thread.stamps;
    checker_.opened(t, op.chunk, op.mode, resume.version, words(n, op.chunk, resume.place));
  }
}

bool ChunkHistory::allowed(const ChunkOp& op, Status status) const {
  // The home of a pushed chunk takes it along when it dies.
  bool gone = pushed_death(op.chunk);
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
      return status == Status::kOk || status == Status::kNoMemory ||
             (gone && status == Status::kUnknown);
    default:
      return status == Status::kOk || (status == Status::kBusy && op.wait == chunks::Wait::kTry) ||
             (status == Status::kTimedOut && op.patience > 0) ||
             (status == Status::kNoMemory && op.kind == ChunkOpKind::kOpen) ||
             (gone && status == (op.kind == ChunkOpKind::kOpen ? Status::kUnknown
                                                               : Status::kNotSubscribed));
  }
}

void ChunkHistory::took(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  ++outcome_.scopes;
  thread.open[op.chunk] = true;
  thread.mode[op.chunk] = Mode::kRead;
  thread.version[op.chunk] = resume.version;
  thread.place[op.chunk] = resume.place;
  checker_.took(t, op.chunk, resume.version, resume.missed,
                words(thread.node, op.chunk, resume.place));
}

void ChunkHistory::learn(std::uint32_t t, const ChunkOp& op, const chunks::Resume& resume) {
  if (op.kind != ChunkOpKind::kCreate && op.kind != ChunkOpKind::kFind) return;
  if (index_of(resume.chunk) != op.chunk)
    violated(Fault::kBadAnswer, "thread {}: {} answers another chunk", t, describe(op));
  for (const Thread& other : threads_)
    if (!pushed_death(op.chunk) && nodes_[other.node].alive &&
        other.id[op.chunk] != chunks::kNoChunk && other.id[op.chunk] != resume.chunk)
      violated(Fault::kBadAnswer, "chunk {} is two chunks", op.chunk);
  threads_[t].id[op.chunk] = resume.chunk;
}

// A home has its chunk before anybody is told of it.
std::uint32_t ChunkHistory::index_of(chunks::ChunkId id) {
  for (const auto& [number, chunk] : numbers_)
    if (number == id) return chunk;
  for (const Node& node : nodes_) {
    const chunks::ChunkHome::Entry* entry = node.machine->home().entry(id);
    for (std::uint32_t c = 0; entry && c < program_->all.size(); ++c) {
      if (program_->all[c].name != entry->name) continue;
      if (ids_[c] != chunks::kNoChunk) {
        checker_.remade(c);
        for (Thread& thread : threads_) thread.stale[c] = thread.open[c];
      }
      ids_[c] = id;
      numbers_.emplace_back(id, c);
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
          node.alive ? node.machine->cache().copy(ids_[c]) : nullptr;
      if (!copy || copy->state == chunks::State::kInvalid) continue;
      ++(copy->state == chunks::State::kShared ? sharers : owners);
    }
    if (owners > 1 || (owners == 1 && sharers > 0))
      violated(Fault::kInvariant, "chunk {} has {} owners and {} sharers", c, owners, sharers);
  }
}

// What the home did not get died on its way.
void ChunkHistory::truncate_to_home(std::uint32_t chunk) {
  NodeId home = chunks::home_of(ids_[chunk], views_.back());
  const chunks::ChunkHome::Entry* entry = nodes_[home.value].machine->home().entry(ids_[chunk]);
  if (entry && entry->version < checker_.last_version(chunk))
    checker_.truncate(chunk, entry->version);
}

void ChunkHistory::finish_check() {
  std::string who;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    if (!threads_[t].waits) continue;
    const ChunkOp& op = program_->ops[t][threads_[t].next];
    if (op.kind == ChunkOpKind::kTakeAll && writers_done(op.chunk)) {
      if (pushed_death(op.chunk)) truncate_to_home(op.chunk);
      if (checker_.took_last(t, op.chunk)) continue;
      violated(Fault::kWrongValue, "thread {} waits for version {} of chunk {}, the last", t,
               checker_.last_version(op.chunk), op.chunk);
    }
    who += fmt::format("; thread {} in {}", t, describe(op));
  }
  if (!who.empty()) violated(Fault::kDeadlock, "nothing can happen any more{}", who);
}

}  // namespace terrane::sim
