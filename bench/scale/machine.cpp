#include "scale/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "scale/memory_count.h"

namespace terrane::bench::scale {

using protocol::Access;

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "scale: %s\n", what.c_str());
  std::exit(1);
}

}  // namespace

Machine::Machine(std::uint32_t nodes, const Pattern& pattern, const Costs& costs,
                 const protocol::Prediction& prediction)
    : costs_(costs), pattern_(pattern) {
  MemoryCount::clear();
  std::uint64_t pages = pattern.pages(nodes);
  blocks_ = (pages + 127) / 64 * 64;
  sums_.resize(pages);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    auto& node = *nodes_.emplace_back(std::make_unique<Node>(n));
    node.views.resize(blocks_);
    node.staged.resize(protocol::Hlrc::kMaxRun);
    node.words.resize(blocks_);
    node.owners.resize(blocks_);
    node.wanted.resize(blocks_ / 64);
    for (auto& set : node.sets)
      set = std::make_unique<protocol::BlockSet::Word[]>(protocol::BlockSet::words_needed(blocks_));
    node.entries = std::make_unique<protocol::BlockEntry[]>(blocks_);
    node.reached = std::make_unique<bool[]>(nodes);
    node.reached[n] = true;
    MemoryCount::work_for(n);
    node.core.emplace(protocol::CoreConfig{
        .self = NodeId{n}, .nodes = nodes, .blocks = blocks_, .block_bytes = kPageBytes});
    protocol::BlockMemory memory{.entries = node.entries.get(), .reached = node.reached.get()};
    for (int i = 0; i < protocol::BlockMemory::kSets; ++i) memory.sets[i] = node.sets[i].get();
    node.history = std::make_unique<protocol::BlockHistory[]>(blocks_);
    protocol::Tunables tunables = protocol::tuned({}, prediction.on);
    node.predictor = protocol::make_predictor(prediction, node.history.get(), blocks_, tunables);
    // A node has one thread and no handler here that could make a release for it.
    node.hlrc.emplace(protocol::HlrcConfig{.self = NodeId{n},
                                           .nodes = nodes,
                                           .blocks = blocks_,
                                           .migrate = true,
                                           .lazy = false,
                                           .tunables = tunables},
                      memory, *node.core, *node.predictor);
    MemoryCount::work_for(MemoryCount::kNobody);
  }
}

Machine::~Machine() {
  for (auto& node : nodes_) {
    node->operation.emplace<0>();
    node->hlrc.reset();
  }
}

Result Machine::run(std::uint32_t warm, std::uint32_t counted) {
  warm_ = warm;
  last_ = warm + counted;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) allocate(n);
  while (!happenings_.empty()) {
    Happening next = happenings_.top();
    happenings_.pop();
    now_ = next.at;
    if (next.message == kNoMessage) {
      act(next.node);
    } else if (next.arrived) {
      arrive(next.message);
    } else {
      handle(next.message);
    }
  }
  if (ended_ == 0) fail("nothing can happen any more, and threads wait");
  Result result;
  double turns = static_cast<double>(counted) * static_cast<double>(nodes_.size());
  Tally all = total();
  result.per_iteration = (ended_ - started_) / counted;
  result.messages = static_cast<double>(all.messages - before_.messages) / turns;
  result.bytes = static_cast<double>(all.bytes - before_.bytes) / turns;
  result.faults = static_cast<double>(all.faults - before_.faults) / turns;
  result.fetched = static_cast<double>(all.fetched - before_.fetched) / turns;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = *nodes_[n];
    auto received = static_cast<double>(node.tally.received - received_before_[n]) / counted;
    result.most_received = std::max(result.most_received, received);
    result.most_memory = std::max(result.most_memory, MemoryCount::most_of(n));
    std::uint64_t known = 0;
    for (std::uint64_t b = 0; b < blocks_; ++b) known += node.entries[b].home() != kNoNode;
    result.most_entries = std::max(result.most_entries, known);
  }
  return result;
}

Tally Machine::total() const {
  Tally all;
  for (const auto& node : nodes_) {
    all.messages += node->tally.messages;
    all.bytes += node->tally.bytes;
    all.faults += node->tally.faults;
    all.fetched += node->tally.fetched;
  }
  return all;
}

void Machine::mark_start() {
  started_ = now_;
  before_ = total();
  for (const auto& node : nodes_) received_before_.push_back(node->tally.received);
}

// ---- messages

void Machine::happen(Ns at, std::uint32_t node, std::uint32_t message, bool arrived) {
  happenings_.push({at, order_++, node, message, arrived});
}

// A sender sends, and a receiver receives, one message at a time.
void Machine::post(std::uint32_t from, std::uint32_t to, std::vector<std::byte> bytes) {
  std::size_t size = size_of(bytes);
  Message message{from, to, size, std::move(bytes)};
  Node& sender = *nodes_[from];
  Node& receiver = *nodes_[to];
  ++sender.tally.messages;
  sender.tally.bytes += size;
  auto transfer = static_cast<Ns>(static_cast<double>(size) * costs_.per_byte);
  sender.out_free =
      std::max(now_, sender.out_free) + static_cast<Ns>(costs_.per_message) + transfer;
  Ns first = sender.out_free - transfer + static_cast<Ns>(costs_.latency);
  receiver.in_free = std::max(first, receiver.in_free) + transfer;
  std::uint32_t number = 0;
  if (free_messages_.empty()) {
    number = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(std::move(message));
  } else {
    number = free_messages_.back();
    free_messages_.pop_back();
    messages_[number] = std::move(message);
  }
  happen(receiver.in_free, to, number, true);
}

// A waiting thread polls; a computing thread is interrupted.
void Machine::arrive(std::uint32_t number) {
  const Message& message = messages_[number];
  Node& node = *nodes_[message.to];
  ++node.tally.received;
  Ns begin = std::max(now_, node.handler_free);
  if (node.wait == Wait::kNothing && begin == now_) begin += static_cast<Ns>(costs_.wake);
  node.handler_free = begin + static_cast<Ns>(cost_of(message));
  happen(node.handler_free, message.to, number, false);
}

double Machine::cost_of(const Message& message) const {
  double cost = costs_.handle;
  double pages = static_cast<double>(message.size / kPageBytes);
  std::size_t ignored = 0;
  switch (message.kind()) {
    case wire::Kind::kPageFetch: {
      wire::PageFetch request;
      protocol::Bytes bytes(message.bytes);
      wire::take(bytes, request);
      return cost + static_cast<double>(request.blocks) * costs_.copy_page;
    }
    case wire::Kind::kPageData:
      return cost + pages * costs_.copy_page;
    case wire::Kind::kPagePush: {
      wire::PagePush head;
      protocol::Bytes bytes(message.bytes);
      wire::take(bytes, head);
      return cost + costs_.step * (head.further > 0) + pages * costs_.copy_page;
    }
    case wire::Kind::kFlush:
      return cost +
             static_cast<double>(differences_in(message.bytes, ignored)) * costs_.compare_page;
    case wire::Kind::kOwnerRequest:
    case wire::Kind::kOwnerReply:
    case wire::Kind::kSubscriptionEnd:
    case wire::Kind::kFlushed:
      return cost;
    default:
      return cost + costs_.step;
  }
}

void Machine::handle(std::uint32_t number) {
  Message message = std::move(messages_[number]);
  free_messages_.push_back(number);
  if (protocol::Server::serves(message.bytes)) return serve(message);
  switch (message.kind()) {
    case wire::Kind::kPageData:
    case wire::Kind::kOwnerReply:
      return answered(message);
    case wire::Kind::kFlushed:
      return flushed(message);
    default:
      step_core(message.to, protocol::Received{NodeId{message.from}, message.bytes});
  }
}

void Machine::step_core(std::uint32_t self, const protocol::Event& event) {
  Node& node = *nodes_[self];
  effects_.clear();
  MemoryCount::work_for(self);
  node.core->step(event, effects_);
  MemoryCount::work_for(MemoryCount::kNobody);
  std::vector<protocol::Offer> offers;
  for (const auto& effect : effects_.list) {
    if (const auto* sent = std::get_if<protocol::Send>(&effect)) {
      auto from = effects_.bytes.begin() + sent->offset;
      std::vector<std::byte> bytes(from, from + sent->size);
      add_granted(self, *sent, bytes);
      post(self, sent->to.value, std::move(bytes));
    } else if (const auto* resumed = std::get_if<protocol::Resume>(&effect)) {
      node.resumed = true;
      node.value = resumed->value;
      node.strand.set_answer(effects_.bytes.data() + resumed->offset, resumed->size);
      if (node.wait == Wait::kResume) wake(self);
    } else if (const auto* offer = std::get_if<protocol::Offer>(&effect)) {
      offers.push_back(*offer);
    } else if (std::holds_alternative<protocol::Malformed>(effect)) {
      fail(fmt::format("node {} refuses a message", self));
    }
  }
  for (const protocol::Offer& offer : offers) make_offer(self, offer);
}

// ---- threads

void Machine::wake(std::uint32_t self) {
  nodes_[self]->wait = Wait::kNothing;
  happen(now_, self);
}

bool Machine::is_done(const Node& node) const {
  return std::visit(
      [](const auto& task) {
        if constexpr (std::is_same_v<std::decay_t<decltype(task)>, std::monostate>) {
          return true;
        } else {
          return task.done();
        }
      },
      node.operation);
}

template <typename T>
void Machine::start(Node& node, protocol::Task<T>&& task) {
  auto& kept = node.operation.template emplace<protocol::Task<T>>(std::move(task));
  node.strand.start(kept);
}

// The next region of the pattern, which has one or two.
void Machine::allocate(std::uint32_t self) {
  Node& node = *nodes_[self];
  bool is_updated = node.allocated == 0 && pattern_.updated() > 0;
  protocol::RegionAllocate request{};
  request.blocks = is_updated ? pattern_.updated() : sums_.size() - pattern_.updated();
  request.bytes = request.blocks * 4096;
  if (is_updated) request.policy.propagation = protocol::Propagation::kUpdate;
  request.sequence = node.allocated + 1;
  request.waiter = node.strand.waiter();
  node.wait = Wait::kResume;
  step_core(self, request);
}

// False: another region is asked for.
bool Machine::finish_allocation(std::uint32_t self) {
  Node& node = *nodes_[self];
  wire::RegionReply reply;
  std::vector<std::byte> answer = node.strand.take_answer();
  protocol::Bytes payload(answer);
  if (!wire::take(payload, reply)) fail("the allocation was refused");
  node.resumed = false;
  if (++node.allocated == 1) first_ = reply.first;
  if (node.allocated == 2 && reply.first != first_ + pattern_.updated())
    fail("the regions lie apart");
  if (node.allocated == regions()) return true;
  allocate(self);
  return false;
}

// One step, or one operation of the program.
void Machine::act(std::uint32_t self) {
  Node& node = *nodes_[self];
  if (node.allocated < regions() && !finish_allocation(self)) return;
  if (node.operation.index() == 0) return begin_op(self);
  if (is_done(node)) {
    finish_operation(node);
    return happen(now_, self);
  }
  auto cost = perform(self, node.strand);
  if (!cost) return;
  MemoryCount::work_for(self);
  node.strand.move_on();
  MemoryCount::work_for(MemoryCount::kNobody);
  happen(now_ + static_cast<Ns>(*cost), self);
}

void Machine::finish_operation(Node& node) {
  node.operation.emplace<0>();
  if (!node.in_fault) ++node.next;
  node.in_fault = false;  // the access is tried again
}

void Machine::begin_op(std::uint32_t self) {
  Node& node = *nodes_[self];
  if (node.next == node.ops.size()) {
    if (self == 0 && node.iteration == warm_) mark_start();
    if (self == 0 && node.iteration == last_) ended_ = now_;
    if (node.iteration == last_) {
      node.wait = Wait::kWord;  // polls, and serves others
      return;
    }
    node.ops.clear();
    node.next = 0;
    pattern_.iteration(self, static_cast<std::uint32_t>(nodes_.size()), node.iteration++, node.ops);
  }
  const Op& op = node.ops[node.next];
  double cost = 0;
  bool done = false;
  MemoryCount::work_for(self);
  switch (op.kind) {
    case Op::Kind::kWork:
      cost = static_cast<double>(op.ns);
      ++node.next;
      break;
    case Op::Kind::kLock:
      start(node, node.hlrc->lock(node.strand, LockId{op.page}));
      break;
    case Op::Kind::kUnlock:
      start(node, node.hlrc->unlock(node.strand, LockId{op.page}));
      break;
    case Op::Kind::kBarrier:
      start(node, node.hlrc->barrier(node.strand, BarrierId{0}, 1, {}));
      break;
    default:
      cost = access(self, op, done);
      if (done) ++node.next;
      break;
  }
  MemoryCount::work_for(MemoryCount::kNobody);
  happen(now_ + static_cast<Ns>(cost), self);
}

// Where the view does not allow it, a fault begins.
double Machine::access(std::uint32_t self, const Op& op, bool& done) {
  Node& node = *nodes_[self];
  std::uint64_t block = first_ + op.page;
  View& view = node.views[block];
  bool store = op.kind != Op::Kind::kLoad;
  if (!view.present) {
    ++node.tally.faults;
    node.in_fault = true;
    start(node,
          node.hlrc->fault(node.strand, BlockId{block}, store ? Access::kWrite : Access::kRead));
    return costs_.fault;
  }
  done = true;
  Page& page = node.frames[block];
  if (op.kind == Op::Kind::kLoad && page.words[op.from] != op.value)
    fail(fmt::format("node {} reads {} from page {} in iteration {}, not {}", self,
                     page.words[op.from], op.page, node.iteration - 1, op.value));
  if (!store) return 0;
  if (op.kind == Op::Kind::kAdd) {
    if (page.words[0] != sums_[op.page])
      fail(fmt::format("node {} finds {} in page {}, not {}", self, page.words[0], op.page,
                       sums_[op.page]));
    page.words[0] = sums_[op.page] += op.value;
  }
  if (op.kind == Op::Kind::kStore) std::fill_n(page.words + op.from, op.words, op.value);
  double cost = view.guarded ? costs_.first_write : 0;
  view.guarded = false;
  return cost;
}

}  // namespace terrane::bench::scale
