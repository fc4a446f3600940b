#include "protocol/core/barrier_tree.h"

#include <algorithm>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

namespace {

bool take_reduced(const wire::BarrierMessage& head, Bytes& message, Contribution& reduced) {
  bool known = head.op <= static_cast<std::uint8_t>(ReduceOp::kBroadcast) &&
               head.type <= static_cast<std::uint8_t>(ReduceType::kDouble);
  if (!known || head.reduced > message.size() || head.reduced % kReducedBytes != 0) return false;
  reduced = {static_cast<ReduceOp>(head.op), static_cast<ReduceType>(head.type),
             message.first(head.reduced)};
  message = message.subspan(head.reduced);
  return true;
}

}  // namespace

BarrierTree::BarrierTree(NodeId self, const Clusters& clusters, std::uint32_t arity,
                         std::uint32_t block_bytes, IntervalLog& log, Outbox& outbox)
    : self_(self),
      nodes_(clusters.nodes()),
      parent_(clusters.parent(self, NodeId{0}, arity)),
      block_bytes_(block_bytes),
      log_(log),
      outbox_(outbox),
      distributed_(nodes_, 0) {
  clusters.add_children(self, NodeId{0}, arity, children_);
  if (nodes_ == 2) {
    other_ = NodeId{1 - self.value};
  } else if (clusters.count() == 2 && clusters.index(self) == 0) {
    other_ = clusters.members(1 - clusters.of(self))[0];
  }
  std::erase(children_, other_);
  TERRANE_CHECK(children_.size() < 63, "the children of a node are bits of a word");
}

void BarrierTree::enter(const BarrierEnter& event) {
  Barrier& barrier = barriers_[event.barrier.value];
  barrier.threads = event.threads_here;
  barrier.set_aside.reset();
  bool last = barrier.here.size() + 1 >= event.threads_here;
  if (last || !mutant(Mutant::kReduceForgetsThread)) barrier.so_far.add(event.contribution);
  if (!last) {
    mark(Mark::kBarrierLocalWait);
    barrier.here.push_back(event.waiter);
    return resume_gatherer(barrier);
  }
  outbox_.resume_plain(event.waiter, static_cast<std::uint64_t>(BarrierRole::kLast));
}

void BarrierTree::gather(const BarrierGather& event) {
  TERRANE_CHECK(self_.value == 0, "the root of the tree gathers");
  Barrier& barrier = barriers_[event.barrier.value];
  barrier.threads = event.threads_here;
  barrier.gather = event;
  resume_gatherer(barrier);
}

void BarrierTree::resume_gatherer(Barrier& barrier) {
  if (!barrier.gather) return;
  bool all_nodes = barrier.gather->all_nodes;
  std::uint32_t missing = barrier.threads - 1 - static_cast<std::uint32_t>(barrier.here.size());
  if (all_nodes) {
    missing += static_cast<std::uint32_t>(children_.size()) - arrived_children(barrier);
    missing += other_missing(barrier) ? 1 : 0;
  }
  if (mutant(Mutant::kGatherEarly) && missing > 0) --missing;
  if (missing > 0) return;
  WaiterId waiter = barrier.gather->waiter;
  barrier.gather.reset();
  auto& out = outbox_.begin();
  if (all_nodes && !mutant(Mutant::kGatherForgetsNotices)) {
    put_bytes(out, barrier.merged);
    bool head = nodes_ > 2 && other_ != kNoNode;
    if (head) mark(Mark::kGatherHearsHead);
    if (!head || !mutant(Mutant::kGatherForgetsHead)) put_bytes(out, barrier.there_notices);
  }
  outbox_.resume(waiter, all_nodes ? barrier_exits_ : learned_);
}

// The thread that answers for the node: the first that came, while threads are missing; afterwards
// the last one.
std::optional<BarrierTree::Wait> BarrierTree::wait_of(BarrierId id, WaiterId waiter) const {
  auto at = barriers_.find(id.value);
  if (at == barriers_.end()) return std::nullopt;
  const Barrier& barrier = at->second;
  auto here = static_cast<std::uint32_t>(barrier.here.size());
  bool first = here > 0 && barrier.here.front() == waiter;
  bool gathers = barrier.gather && barrier.gather->waiter == waiter;
  if (!gathers && !(barrier.arrived ? barrier.leader == waiter : first)) return std::nullopt;
  Wait wait{here + (barrier.arrived ? 1 : 0), barrier.threads, {}};
  for (std::size_t child = 0; child < children_.size(); ++child)
    if (!(barrier.children >> child & 1)) wait.missing.push_back(children_[child]);
  if (other_missing(barrier)) wait.missing.push_back(other_);
  return wait;
}

// If the other nodes have nothing to report either, this node goes on without their messages. Then
// the values of its threads must not count for a later round.
void BarrierTree::told(const BarrierTold& event) {
  Barrier& barrier = barriers_[event.barrier.value];
  bool plain = barrier.so_far.is_plain() || (event.broadcasts && !barrier.so_far.mismatched());
  bool alone = barrier.children == 0 && plain;
  bool news = false;
  for (std::uint32_t node = 0; node < nodes_; ++node)
    news = news || log_.timestamp()[node] > distributed_[node];
  if (!alone || (news && !mutant(Mutant::kInMemoryWithNotices))) {
    outbox_.resume_plain(event.waiter, 0);
    return;
  }
  barrier.set_aside = barrier.so_far;
  barrier.so_far.clear();
  barrier.result.clear();
  outbox_.resume_plain(event.waiter, std::uint64_t{learned_} + 1);
}

void BarrierTree::arrive(const BarrierArrive& event) {
  BarrierId id = event.barrier;
  Barrier& barrier = barriers_[id.value];
  if (barrier.set_aside) barrier.so_far = *barrier.set_aside;
  barrier.set_aside.reset();
  barrier.arrived = true;
  barrier.leader = event.waiter;
  barrier.acquired = event.acquired;
  // Not only this node's intervals: if a barrier is for some threads of each node, another node's
  // interval may have come here with a lock after that node arrived.
  scratch_.clear();
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    bool passed_on = node == self_.value || !mutant(Mutant::kBarrierOwnNotices);
    if (log_.timestamp()[node] > distributed_[node] && passed_on)
      log_.write_entry(node, distributed_[node], scratch_);
  }
  merge(barrier, scratch_);
  advance(id, barrier, &event);
}

// This node's subtree has arrived; event: this node's arrival, if it was the last one of the
// subtree.
void BarrierTree::tell_other(BarrierId id, Barrier& barrier, const BarrierArrive* event) {
  barrier.said_here = {inside_++ == 0, barrier.acquired, barrier_exits_};
  wire::for_each_entry(barrier.merged, [&](const wire::NoticeEntry& entry) {
    if (entry.base > distributed_[entry.node]) barrier.said_here.plain = false;
  });
  if (nodes_ > 2 && barrier.said_here.plain) mark(Mark::kHeadArrives);
  bool forgets = mutant(Mutant::kHeadForgetsCluster) && nodes_ > 2;
  write(wire::Kind::kBarrierArrive, id, barrier.so_far,
        forgets ? Bytes(scratch_) : Bytes(barrier.merged), barrier.said_here);
  barrier.went_up = true;
  bool carries = nodes_ == 2 && event != nullptr && event->with_arrival != nullptr &&
                 !event->with_arrival->empty();
  if (!carries || !barrier.said_here.plain) return outbox_.send(other_);
  mark(Mark::kArrivalCarriesBlocks);
  outbox_.send_wanted(other_, *event->with_arrival);
}

// Whether both know from the two arrivals which number this barrier exit has.
bool BarrierTree::agree(const Barrier& barrier) {
  return barrier.said_here.plain && barrier.said_there.plain;
}

// Adds to the round's notice set what is not in it yet. An entry keeps its base: the readers of the
// set know all intervals up to it, since they applied every earlier barrier exit.
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

void BarrierTree::advance(BarrierId id, Barrier& barrier, const BarrierArrive* event) {
  auto missing = static_cast<std::uint32_t>(children_.size()) - arrived_children(barrier);
  bool awaits_other = other_missing(barrier);
  if (mutant(Mutant::kBarrierEarly)) {
    if (missing == 0) awaits_other = false;
    if (missing > 0) --missing;
  }
  if (mutant(Mutant::kHeadEarly) && nodes_ > 2 && other_ != kNoNode) missing = 0;
  if (!barrier.arrived || missing > 0) return;
  if (other_ == kNoNode && parent_ == kNoNode) return depart_as_root(id, barrier, false);
  if (other_ == kNoNode) {
    write(wire::Kind::kBarrierArrive, id, barrier.so_far, barrier.merged, {});
    outbox_.send(parent_);
    barrier.went_up = true;
    barrier.merged.clear();
    return;
  }
  if (!barrier.went_up) tell_other(id, barrier, event);
  if (awaits_other) return;
  bool agreed = agree(barrier);
  if (!agreed) mark(Mark::kBarrierPairNotAgreed);
  if (!agreed && parent_ != kNoNode) return;
  merge(barrier, barrier.there_notices);
  depart_as_root(id, barrier, !agreed);
}

// This node has all arrivals; tells_other: it sends the other node, or head, the barrier exit.
void BarrierTree::depart_as_root(BarrierId id, Barrier& barrier, bool tells_other) {
  Reduction result = barrier.so_far;
  if (other_ != kNoNode) {
    result.add(barrier.there.combined());
    if (barrier.there.mismatched()) result.mismatch();
  }
  set_result(barrier, result);
  std::vector<std::byte> notices;
  notices.swap(barrier.merged);
  depart(id, barrier, notices, tells_other);
  notices.clear();
  barrier.merged.swap(notices);  // keeps the memory
}

void BarrierTree::set_result(Barrier& barrier, const Reduction& result) {
  bool old = mutant(Mutant::kForkKeepsPayload) && !barrier.result.combined().values.empty() &&
             result.combined().op == ReduceOp::kBroadcast;
  if (!old) barrier.result = result;
}

void BarrierTree::depart(BarrierId id, Barrier& barrier, Bytes notices, bool tells_other) {
  mark(Mark::kBarrierExits);
  if (other_ != kNoNode) --inside_;
  barrier.arrived = false;
  barrier.went_up = false;
  barrier.children = 0;
  barrier.merged.clear();
  barrier.there_notices.clear();
  if (!mutant(Mutant::kReduceKeepsOld)) barrier.so_far.clear();
  std::fill(barrier.covered.begin(), barrier.covered.end(), 0);
  if (tells_other) tell_exit(other_, id, barrier, notices);
  for (NodeId child : children_) tell_exit(child, id, barrier, notices);
  resume_leader(barrier, notices);
  barrier.came_with_arrival.clear();
}

void BarrierTree::tell_exit(NodeId to, BarrierId id, const Barrier& barrier, Bytes notices) {
  write(wire::Kind::kBarrierExit, id, barrier.result, notices, {});
  outbox_.send(to);
}

// Blocks that came with an arrival may be older than what their reader knows by other ways: from a
// lock, or since the two nodes have seen different barrier exits. So they are used only if neither
// is the case.
void BarrierTree::resume_leader(Barrier& barrier, Bytes notices) {
  const Said& here = barrier.said_here;
  const Said& there = barrier.said_there;
  std::uint64_t value = ++barrier_exits_;
  if (barrier.result.mismatched()) value |= kContributionsDiffer;
  auto& out = outbox_.begin();
  if (nodes_ == 2 && here.plain && there.plain) {
    bool same = here.barrier_exits == there.barrier_exits || mutant(Mutant::kArrivalApart);
    bool careless = mutant(Mutant::kArrivalAfterLocks);
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
  bool may_bring = from == other_ && nodes_ == 2 && !departing;
  if (!log_.believable(notices, self_, blocks) ||
      !(may_bring ? came_with_arrival_whole(with_arrival) : with_arrival.empty()))
    return false;
  if (departing) return received_exit(from, head, reduced, notices);
  if (from == other_) return received_other(head, reduced, notices, with_arrival);
  std::uint64_t child = child_bit(from);
  if (child == 0) return false;
  BarrierId id{head.barrier};
  Barrier& barrier = barriers_[head.barrier];
  if ((barrier.children & child) != 0) return false;
  mark(Mark::kBarrierCombines);
  bool first = barrier.children == 0;
  barrier.children |= child;
  if (!mutant(Mutant::kReduceForgetsChild) || !first) barrier.so_far.add(reduced);
  if (head.mismatched) barrier.so_far.mismatch();
  if (!mutant(Mutant::kBarrierForgetsChild) || !first) merge(barrier, notices);
  resume_gatherer(barrier);
  advance(id, barrier, nullptr);
  return true;
}

// 0: the node is no child.
std::uint64_t BarrierTree::child_bit(NodeId node) const {
  auto at = std::find(children_.begin(), children_.end(), node);
  return at == children_.end() ? 0 : std::uint64_t{1} << (at - children_.begin());
}

bool BarrierTree::received_exit(NodeId from, const wire::BarrierMessage& head,
                                const Contribution& reduced, Bytes notices) {
  auto at = barriers_.find(head.barrier);
  if (from != parent_ || at == barriers_.end() || !at->second.went_up) return false;
  if (other_missing(at->second)) return false;
  Reduction result;
  result.add(reduced);
  if (head.mismatched) result.mismatch();
  set_result(at->second, result);
  depart(BarrierId{head.barrier}, at->second, notices, false);
  return true;
}

bool BarrierTree::received_other(const wire::BarrierMessage& head, const Contribution& reduced,
                                 Bytes notices, Bytes with_arrival) {
  Barrier& barrier = barriers_[head.barrier];
  if ((barrier.children & kOtherArrived) != 0) return false;
  mark(Mark::kBarrierCombines);
  barrier.children |= kOtherArrived;
  barrier.there.clear();
  if (!mutant(Mutant::kReduceForgetsChild)) barrier.there.add(reduced);
  if (head.mismatched) barrier.there.mismatch();
  barrier.said_there = {head.plain != 0, head.acquired != 0, head.barrier_exits};
  barrier.came_with_arrival.assign(with_arrival.begin(), with_arrival.end());
  if (!mutant(Mutant::kBarrierForgetsChild))
    barrier.there_notices.assign(notices.begin(), notices.end());
  resume_gatherer(barrier);
  advance(BarrierId{head.barrier}, barrier, nullptr);
  return true;
}

// Whether these are whole blocks, as the other one of two nodes sends them with its arrival.
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
                                      .barrier_exits = said.barrier_exits,
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

void BarrierTree::leave(BarrierId id, Bytes told) {
  Barrier& barrier = barriers_[id.value];
  BarrierRole role = barrier.result.mismatched() ? BarrierRole::kMismatched : BarrierRole::kLeft;
  for (WaiterId waiter : barrier.here) {
    put_bytes(outbox_.begin(), told.empty() ? barrier.result.combined().values : told);
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
    TERRANE_CHECK(arrived_children(barrier) <= children_.size(), "each child arrives once a round");
    TERRANE_CHECK(barrier.arrived || barrier.merged.empty() || barrier.children > 0,
                  "notices of a round come from somebody");
  }
  for (std::uint32_t node = 0; node < nodes_; ++node)
    TERRANE_CHECK(distributed_[node] <= log_.timestamp()[node], "what all know is known here");
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
