#include "protocol/core/barrier_tree.h"

#include <algorithm>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

namespace {

bool take_reduced(const wire::BarrierMessage& head, Bytes& message, Contribution& reduced) {
  bool known = head.op <= static_cast<std::uint8_t>(ReduceOp::kXor) &&
               head.type <= static_cast<std::uint8_t>(ReduceType::kDouble);
  if (!known || head.reduced > message.size() || head.reduced % kReducedBytes != 0) return false;
  reduced = {static_cast<ReduceOp>(head.op), static_cast<ReduceType>(head.type),
             message.first(head.reduced)};
  message = message.subspan(head.reduced);
  return true;
}

}  // namespace

BarrierTree::BarrierTree(NodeId self, std::uint32_t nodes, std::uint32_t arity,
                         std::uint32_t block_bytes, IntervalLog& log, Outbox& outbox)
    : self_(self),
      nodes_(nodes),
      first_child_(self.value * arity + 1),
      parent_(self.value == 0 ? kNoNode : NodeId{(self.value - 1) / arity}),
      block_bytes_(block_bytes),
      log_(log),
      outbox_(outbox),
      distributed_(nodes, 0) {
  std::uint32_t last = first_child_ + arity < nodes ? first_child_ + arity : nodes;
  children_ = last > first_child_ ? last - first_child_ : 0;
  if (nodes == 2) {
    other_ = NodeId{1 - self.value};
    first_child_ = other_.value;
    children_ = 1;
  }
  TERRANE_CHECK(children_ <= 64, "the children of a node are bits of a word");
}

void BarrierTree::enter(const BarrierEnter& event) {
  Barrier& barrier = barriers_[event.barrier.value];
  barrier.threads = event.threads_here;
  barrier.set_aside = false;
  bool last = barrier.here.size() + 1 >= event.threads_here;
  if (last || !mutant(Mutant::kReduceForgetsThread)) barrier.so_far.add(event.contribution);
  if (!last) {
    mark(Mark::kBarrierLocalWait);
    barrier.here.push_back(event.waiter);
    return;
  }
  outbox_.resume_plain(event.waiter, static_cast<std::uint64_t>(BarrierRole::kLast));
}

// While threads of this node are missing, the first that came tells; afterwards the last one.
std::optional<BarrierTree::Wait> BarrierTree::wait_of(BarrierId id, WaiterId waiter) const {
  auto at = barriers_.find(id.value);
  if (at == barriers_.end()) return std::nullopt;
  const Barrier& barrier = at->second;
  auto here = static_cast<std::uint32_t>(barrier.here.size());
  bool first = here > 0 && barrier.here.front() == waiter;
  if (!(barrier.arrived ? barrier.leader == waiter : first)) return std::nullopt;
  Wait wait{here + (barrier.arrived ? 1 : 0), barrier.threads, {}};
  for (std::uint32_t child = 0; child < children_; ++child)
    if (!(barrier.children >> child & 1)) wait.missing.emplace_back(first_child_ + child);
  return wait;
}

// If the others have as little to tell, this node goes on without their messages. Then what its
// threads brought belongs to no round that is to come.
void BarrierTree::told(BarrierId id, WaiterId waiter) {
  Barrier& barrier = barriers_[id.value];
  bool alone = barrier.children == 0 && barrier.so_far.is_plain();
  bool news = false;
  for (std::uint32_t node = 0; node < nodes_; ++node)
    news = news || log_.timestamp()[node] > distributed_[node];
  if (!alone || (news && !mutant(Mutant::kMeetsWithNews))) {
    outbox_.resume_plain(waiter, 0);
    return;
  }
  barrier.so_far.clear();
  barrier.result.clear();
  barrier.set_aside = true;
  outbox_.resume_plain(waiter, std::uint64_t{learned_} + 1);
}

void BarrierTree::arrive(const BarrierArrive& event) {
  BarrierId id = event.barrier;
  Barrier& barrier = barriers_[id.value];
  if (barrier.set_aside) barrier.so_far.add({});
  barrier.set_aside = false;
  barrier.arrived = true;
  barrier.leader = event.waiter;
  barrier.said_here = {inside_++ == 0, event.acquired, departures_};
  // Not only its own: where a barrier is for some threads of each node, another node's interval may
  // have come here by a lock after that node arrived.
  scratch_.clear();
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    bool passed_on = node == self_.value || !mutant(Mutant::kBarrierOwnNotices);
    if (log_.timestamp()[node] > distributed_[node] && passed_on)
      log_.write_entry(node, distributed_[node], scratch_);
  }
  if (other_ != kNoNode) tell_other(id, barrier, event);
  merge(barrier, scratch_);
  advance(id, barrier);
}

void BarrierTree::tell_other(BarrierId id, Barrier& barrier, const BarrierArrive& event) {
  wire::for_each_entry(scratch_, [&](const wire::NoticeEntry& entry) {
    if (entry.base > distributed_[entry.node]) barrier.said_here.plain = false;
  });
  write(wire::Kind::kBarrierArrive, id, barrier.so_far, scratch_, barrier.said_here);
  barrier.went_up = true;
  if (event.with_arrival == nullptr || event.with_arrival->empty() || !barrier.said_here.plain)
    return outbox_.send(other_);
  mark(Mark::kArrivalCarriesBlocks);
  outbox_.send_wanted(other_, *event.with_arrival);
}

// Whether both know from each other's arrivals which departure this is.
bool BarrierTree::agree(const Barrier& barrier) {
  return barrier.said_here.plain && barrier.said_there.plain;
}

// Adds what the round's set does not say yet. An entry keeps its base: the reader of the set knows
// all up to there, since every departure before this one was applied.
void BarrierTree::merge(Barrier& barrier, Bytes notices) {
  barrier.covered.resize(nodes_, 0);
  wire::NoticeWriter writer(barrier.merged);
  wire::NoticeReader reader(notices);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry)) {
    std::uint32_t covered = barrier.covered[entry.node];
    if (entry.top > covered) writer.entry(entry.node, entry.base, entry.top);
    while (reader.next_record(record)) {
      bool fresh = record.interval > covered;
      if (fresh) writer.record(record.interval);
      while (reader.next_range(range))
        if (fresh) writer.range(range);
    }
    if (entry.top > covered) barrier.covered[entry.node] = entry.top;
  }
}

void BarrierTree::advance(BarrierId id, Barrier& barrier) {
  std::uint32_t missing = children_ - arrived_children(barrier);
  if (mutant(Mutant::kBarrierEarly) && missing > 0) --missing;
  if (!barrier.arrived || missing > 0) return;
  if (other_ != kNoNode) {
    bool agreed = agree(barrier);
    if (!agreed) mark(Mark::kBarrierPairNotAgreed);
    if (agreed || parent_ == kNoNode) depart_as_root(id, barrier, !agreed);
    return;
  }
  if (parent_ == kNoNode) return depart_as_root(id, barrier, true);
  write(wire::Kind::kBarrierArrive, id, barrier.so_far, barrier.merged, {});
  outbox_.send(parent_);
  barrier.went_up = true;
  barrier.merged.clear();
}

// This node has all arrivals; tells: others have to be told.
void BarrierTree::depart_as_root(BarrierId id, Barrier& barrier, bool tells) {
  barrier.result = barrier.so_far;
  if (other_ != kNoNode) {
    barrier.result.add(barrier.there.combined());
    if (barrier.there.mismatched()) barrier.result.mismatch();
  }
  std::vector<std::byte> notices;
  notices.swap(barrier.merged);
  depart(id, barrier, notices, tells);
  notices.clear();
  barrier.merged.swap(notices);  // keeps the memory
}

void BarrierTree::depart(BarrierId id, Barrier& barrier, Bytes notices, bool tells) {
  mark(Mark::kBarrierDeparts);
  --inside_;
  barrier.arrived = false;
  barrier.went_up = false;
  barrier.children = 0;
  barrier.merged.clear();
  if (!mutant(Mutant::kReduceKeepsOld)) barrier.so_far.clear();
  std::fill(barrier.covered.begin(), barrier.covered.end(), 0);
  for (std::uint32_t child = 0; child < children_ && tells; ++child) {
    write(wire::Kind::kBarrierDepart, id, barrier.result, notices, {});
    outbox_.send(NodeId{first_child_ + child});
  }
  resume_leader(barrier, notices);
  barrier.came_with_arrival.clear();
}

// What came along is older than what its reader may know otherwise: by a lock, or since the two
// have seen different departures.
void BarrierTree::resume_leader(Barrier& barrier, Bytes notices) {
  const Said& here = barrier.said_here;
  const Said& there = barrier.said_there;
  std::uint64_t value = ++departures_;
  if (barrier.result.mismatched()) value |= kContributionsDiffer;
  auto& out = outbox_.begin();
  if (other_ != kNoNode && here.plain && there.plain) {
    bool same = here.departures == there.departures || mutant(Mutant::kAlongApart);
    bool careless = mutant(Mutant::kAlongAfterLocks);
    if (same && (!there.acquired || careless)) value |= kArrivalTaken;
    if (same && (!here.acquired || careless) && !barrier.came_with_arrival.empty())
      value |= kCameWithArrival;
    if (!same) mark(Mark::kBarrierPairApart);
  }
  if (value & kCameWithArrival) wire::put(out, GrantHead{0, notices.size()});
  put_bytes(out, notices);
  if (value & kCameWithArrival) put_bytes(out, barrier.came_with_arrival);
  outbox_.resume(barrier.leader, value);
}

bool BarrierTree::received(NodeId from, Bytes message, bool departing, std::uint64_t blocks) {
  wire::BarrierMessage head;
  Contribution reduced;
  if (!wire::take(message, head) || !take_reduced(head, message, reduced) ||
      head.notices > message.size())
    return false;
  Bytes notices = message.first(head.notices);
  Bytes with_arrival = message.subspan(head.notices);
  bool may_bring = other_ != kNoNode && !departing;
  if (!log_.believable(notices, self_, blocks) ||
      !(may_bring ? came_with_arrival_whole(with_arrival) : with_arrival.empty()))
    return false;
  BarrierId id{head.barrier};
  if (departing) {
    auto at = barriers_.find(head.barrier);
    if (from != parent_ || at == barriers_.end() || !at->second.went_up) return false;
    if (other_ != kNoNode && at->second.children == 0) return false;
    Reduction& result = at->second.result;
    result.clear();
    result.add(reduced);
    if (head.mismatched) result.mismatch();
    depart(id, at->second, notices, other_ == kNoNode);
    return true;
  }
  bool is_child = from.value >= first_child_ && from.value < first_child_ + children_;
  if (!is_child) return false;
  Barrier& barrier = barriers_[head.barrier];
  std::uint64_t child = std::uint64_t{1} << (from.value - first_child_);
  if ((barrier.children & child) != 0) return false;
  mark(Mark::kBarrierCombines);
  bool first = barrier.children == 0;
  barrier.children |= child;
  Reduction& so_far = other_ == kNoNode ? barrier.so_far : barrier.there;
  if (other_ != kNoNode) so_far.clear();
  if (!mutant(Mutant::kReduceForgetsChild) || !first) so_far.add(reduced);
  if (head.mismatched) so_far.mismatch();
  barrier.said_there = {head.plain != 0, head.acquired != 0, head.departures};
  barrier.came_with_arrival.assign(with_arrival.begin(), with_arrival.end());
  if (!mutant(Mutant::kBarrierForgetsChild) || !first) merge(barrier, notices);
  advance(id, barrier);
  return true;
}

// Whether these are blocks that the other of two nodes sent along, whole.
bool BarrierTree::came_with_arrival_whole(Bytes blocks) const {
  wire::GrantedBlock head;
  for (std::size_t count = 0; !blocks.empty(); ++count) {
    if (count == wire::kMostWithArrival || !wire::take(blocks, head) ||
        NodeId{head.home} != other_ || (head.bytes != 0 && head.bytes != block_bytes_) ||
        blocks.size() < head.bytes)
      return false;
    blocks = blocks.subspan(head.bytes);
  }
  return true;
}

void BarrierTree::write(wire::Kind kind, BarrierId id, const Reduction& reduction, Bytes notices,
                        const Said& said) {
  Contribution reduced = reduction.combined();
  auto& out = outbox_.begin();
  wire::put(out, wire::BarrierMessage{.kind = kind,
                                      .op = static_cast<std::uint8_t>(reduced.op),
                                      .type = static_cast<std::uint8_t>(reduced.type),
                                      .mismatched = reduction.mismatched(),
                                      .barrier = id.value,
                                      .reduced = static_cast<std::uint32_t>(reduced.values.size()),
                                      .notices = static_cast<std::uint32_t>(notices.size()),
                                      .departures = said.departures,
                                      .plain = said.plain,
                                      .acquired = said.acquired});
  put_bytes(out, reduced.values);
  put_bytes(out, notices);
}

void BarrierTree::result(BarrierId id, WaiterId waiter) {
  const Reduction& result = barriers_[id.value].result;
  put_bytes(outbox_.begin(), result.combined().values);
  outbox_.resume(waiter, 0);
}

void BarrierTree::leave(BarrierId id) {
  Barrier& barrier = barriers_[id.value];
  BarrierRole role = barrier.result.mismatched() ? BarrierRole::kMismatched : BarrierRole::kLeft;
  for (WaiterId waiter : barrier.here) {
    put_bytes(outbox_.begin(), barrier.result.combined().values);
    outbox_.resume(waiter, static_cast<std::uint64_t>(role));
  }
  barrier.here.clear();
}

void BarrierTree::learned(Bytes notices) {
  wire::for_each_entry(notices, [&](const wire::NoticeEntry& entry) {
    if (entry.top > distributed_[entry.node]) distributed_[entry.node] = entry.top;
  });
  ++learned_;
  log_.forget(distributed_);
}

void BarrierTree::check_invariants() const {
  for (const auto& [id, barrier] : barriers_) {
    TERRANE_CHECK(arrived_children(barrier) <= children_, "each child arrives once a round");
    TERRANE_CHECK(barrier.arrived || barrier.merged.empty() || barrier.children > 0,
                  "notices of a round come from somebody");
  }
  for (std::uint32_t node = 0; node < nodes_; ++node)
    TERRANE_CHECK(distributed_[node] <= log_.timestamp()[node], "what all know is known here");
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
