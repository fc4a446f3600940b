#include "protocol/barrier_tree.h"

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

BarrierTree::BarrierTree(NodeId self, std::uint32_t nodes, std::uint32_t arity, IntervalLog& log,
                         Outbox& outbox)
    : self_(self),
      nodes_(nodes),
      first_child_(self.value * arity + 1),
      parent_(self.value == 0 ? kNoNode : NodeId{(self.value - 1) / arity}),
      log_(log),
      outbox_(outbox),
      distributed_(nodes, 0) {
  std::uint32_t last = first_child_ + arity < nodes ? first_child_ + arity : nodes;
  children_ = last > first_child_ ? last - first_child_ : 0;
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

void BarrierTree::arrive(BarrierId id, WaiterId waiter) {
  Barrier& barrier = barriers_[id.value];
  if (barrier.set_aside) barrier.so_far.add({});
  barrier.set_aside = false;
  barrier.arrived = true;
  barrier.leader = waiter;
  // Not only its own: where a barrier is for some threads of each node, another node's interval may
  // have come here by a lock after that node arrived.
  scratch_.clear();
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    bool passed_on = node == self_.value || !mutant(Mutant::kBarrierOwnNotices);
    if (log_.timestamp()[node] > distributed_[node] && passed_on)
      log_.write_entry(node, distributed_[node], scratch_);
  }
  merge(barrier, scratch_);
  advance(id, barrier);
}

// Adds what the round's set does not say yet. An entry keeps its base: whoever reads the set knows
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
  if (parent_ == kNoNode) {
    barrier.result = barrier.so_far;
    std::vector<std::byte> notices;
    notices.swap(barrier.merged);
    depart(id, barrier, notices);
    notices.clear();
    barrier.merged.swap(notices);  // keeps the memory
    return;
  }
  write(wire::Kind::kBarrierArrive, id, barrier.so_far, barrier.merged);
  outbox_.send(parent_);
  barrier.went_up = true;
  barrier.merged.clear();
}

void BarrierTree::depart(BarrierId id, Barrier& barrier, Bytes notices) {
  mark(Mark::kBarrierDeparts);
  barrier.arrived = false;
  barrier.went_up = false;
  barrier.children = 0;
  if (!mutant(Mutant::kReduceKeepsOld)) barrier.so_far.clear();
  std::fill(barrier.covered.begin(), barrier.covered.end(), 0);
  for (std::uint32_t child = 0; child < children_; ++child) {
    write(wire::Kind::kBarrierDepart, id, barrier.result, notices);
    outbox_.send(NodeId{first_child_ + child});
  }
  put_bytes(outbox_.begin(), notices);
  std::uint64_t mismatched = barrier.result.mismatched() ? kContributionsDiffer : 0;
  outbox_.resume(barrier.leader, ++departures_ | mismatched);
}

bool BarrierTree::received(NodeId from, Bytes message, bool departing, std::uint64_t blocks) {
  wire::BarrierMessage head;
  Contribution reduced;
  if (!wire::take(message, head) || !take_reduced(head, message, reduced) ||
      !log_.believable(message, self_, blocks))
    return false;
  BarrierId id{head.barrier};
  if (departing) {
    auto at = barriers_.find(head.barrier);
    if (from != parent_ || at == barriers_.end() || !at->second.went_up) return false;
    Reduction& result = at->second.result;
    result.clear();
    result.add(reduced);
    if (head.mismatched) result.mismatch();
    depart(id, at->second, message);
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
  if (!mutant(Mutant::kReduceForgetsChild) || !first) barrier.so_far.add(reduced);
  if (head.mismatched) barrier.so_far.mismatch();
  if (!mutant(Mutant::kBarrierForgetsChild) || !first) merge(barrier, message);
  advance(id, barrier);
  return true;
}

void BarrierTree::write(wire::Kind kind, BarrierId id, const Reduction& reduction, Bytes notices) {
  Contribution reduced = reduction.combined();
  auto& out = outbox_.begin();
  wire::put(out,
            wire::BarrierMessage{.kind = kind,
                                 .op = static_cast<std::uint8_t>(reduced.op),
                                 .type = static_cast<std::uint8_t>(reduced.type),
                                 .mismatched = reduction.mismatched(),
                                 .barrier = id.value,
                                 .reduced = static_cast<std::uint32_t>(reduced.values.size())});
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
