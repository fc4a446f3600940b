#include "sim/operations.h"

#include <bit>
#include <cstring>
#include <span>

#include "sim/checked_homes.h"
#include "sim/history.h"
#include "sim/names.h"

namespace terrane::sim {

using protocol::Access;
using protocol::FaultResult;
using protocol::LockResult;

namespace {

// What the thread contributes to a barrier. Refers to bytes of the program, which stays valid.
protocol::Contribution contribution(const Op& op) {
  if (op.kind != OpKind::kBarrier || op.size == 0) return {};
  if (op.size == 2)
    return {protocol::ReduceOp::kBroadcast, protocol::ReduceType::kUint64,
            std::as_bytes(std::span(&op.value, op.value != 0 ? 1 : 0))};
  return {protocol::ReduceOp::kSum, protocol::ReduceType::kUint64,
          std::as_bytes(std::span(&op.value, 1))};
}

// The word of an atomic operation and its operand, in the form of a plain access.
Op word_of(const Op& op) {
  Op word = op;
  word.size = op.size & 15;
  if (word.size < 8) word.value &= (1ull << 8 * word.size) - 1;
  return word;
}

LockResult lock_result(const Actor& actor) {
  return std::get<protocol::Task<LockResult>>(actor.operation).value();
}

// Whether the lock was tried and is in use.
bool is_busy(const Actor& actor) {
  const auto* tried = std::get_if<protocol::Task<LockResult>>(&actor.operation);
  return tried != nullptr && tried->value() == LockResult::kBusy;
}

// Whether the operation is repeated: a condition's predicate is checked again, and semaphores and
// locks are tried again.
bool asks_again(const Op& op, const Actor& actor) {
  if (op.kind == OpKind::kCondition) return true;
  if (op.kind == OpKind::kLock) return is_busy(actor);
  if (op.kind == OpKind::kFenceAwait) return true;
  return op.kind == OpKind::kTake && !std::get<protocol::Task<bool>>(actor.operation).value();
}

// The units that are taken: of a semaphore, or of a read-write lock by a reader (size 1) or a
// writer.
protocol::Units units_of(const Op& op) {
  constexpr std::int64_t kMost = protocol::Units::kMostReaders;
  if (op.size == 0) return {};
  return {op.size == 1 ? 1 : kMost, kMost};
}

}  // namespace

void Operations::reset(const Program& program) {
  for (std::uint32_t& holder : holder_) holder = kNobody;
  for (bool& ready : ready_) ready = false;
  for (Users& users : users_) users = {};
  sums_.assign(256, 0);
  doomed_left_ = 0;
  freer_ = kNobody;
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    for (const Op& op : program.ops[t]) {
      if (op.kind == OpKind::kBarrier) sums_[op.phase] += op.value;
      doomed_left_ += op.kind == OpKind::kDoomedStore;
      if (op.kind == OpKind::kPrepare) arrivals_[op.at] = static_cast<std::uint32_t>(op.value);
    }
}

const Op& Operations::of(const Actor& actor) const {
  return history_.program_->ops[actor.id][actor.next];
}

void Operations::begin(Actor& actor) {
  if (actor.next >= history_.program_->ops[actor.id].size()) {
    history_.schedule_.park(actor.id);
    --history_.running_;
    return;
  }
  const Setup& setup = history_.program_->setup;
  if (setup.sc_evicts_percent > 0 && history_.rng_.chance(setup.sc_evicts_percent)) {
    actor.doing = Actor::Doing::kEvictForMemory;
    actor.start(history_.nodes_[actor.node].sc().evict(actor.strand,
                                                       {setup.space_blocks, setup.sc_blocks}));
    return;
  }
  const Op& op = of(actor);
  switch (op.kind) {
    case OpKind::kLoad:
    case OpKind::kStore:
    case OpKind::kDoomedStore:
    case OpKind::kFinalLoad:
      access(actor, op);
      return;
    case OpKind::kAtomic:
      begin_atomic(actor, op);
      return;
    case OpKind::kNowhere:
      start_fault(actor, nowhere(), Access::kRead);
      return;
    case OpKind::kPromote:
    case OpKind::kFlagStore:
    case OpKind::kFlagAwait:
    case OpKind::kFlagSwap:
    case OpKind::kFlagYields:
      begin_flag(actor, op);
      return;
    case OpKind::kFence:
      begin_fence(actor);
      return;
    case OpKind::kFenceAwait:
      await_by_fences(actor, op);
      return;
    case OpKind::kFree:
      if (doomed_left_ > 0) {  // as if the program ordered the free after these stores
        freer_ = actor.id;
        history_.schedule_.park(actor.id);
        return;
      }
      [[fallthrough]];
    case OpKind::kAllocate:
    case OpKind::kFreeAgain:
      host_call(actor, op);
      return;
    default:
      begin_sync(actor, op);
      return;
  }
}

// A block in no region: the last one of the space, or of the sequentially consistent space.
std::uint64_t Operations::nowhere() {
  const Setup& setup = history_.program_->setup;
  bool sc = setup.sc_blocks > 0 && history_.rng_.chance(50);
  return setup.space_blocks - 1 + (sc ? setup.sc_blocks : 0);
}

void Operations::begin_sync(Actor& actor, const Op& op) {
  protocol::Hlrc& hlrc = history_.nodes_[actor.node].hlrc();
  switch (op.kind) {
    case OpKind::kLock:
      if (actor.tries < op.size) {
        ++actor.tries;
        actor.start(hlrc.try_lock(actor.strand, LockId{op.at}));
      } else {
        actor.start(hlrc.lock(actor.strand, LockId{op.at}));
      }
      break;
    case OpKind::kUnlock:
      leave_lock(actor, op.at);
      actor.start(hlrc.unlock(actor.strand, LockId{op.at}));
      break;
    case OpKind::kBarrier:
    case OpKind::kSideBarrier:
      history_.checker_.clocks().enter(actor.id, op.at, history_.program_->entrants(op));
      actor.start(
          hlrc.barrier(actor.strand, BarrierId{op.at},
                       op.kind == OpKind::kSideBarrier ? 1 : history_.threads_at_[actor.node],
                       contribution(op), &actor.reduced));
      break;
    case OpKind::kGather:
      actor.start(hlrc.gather(actor.strand, BarrierId{op.at},
                              op.size == 1 ? 1 : history_.threads_at_[actor.node]));
      break;
    case OpKind::kEvict:
      if (op.value == 2) {
        actor.start(op.size % 2 != 0 ? hlrc.tidy(actor.strand) : hlrc.trim(actor.strand));
        break;
      }
      begin_evict(actor, op);
      break;
    case OpKind::kLimit:  // as where the machine of a node shrinks, or grows again
      history_.nodes_[actor.node].limit_to(op.at);
      actor.start(hlrc.shrink(actor.strand));
      break;
    default:
      begin_count(actor, op);
      break;
  }
  if (history_.trace_)
    history_.trace_of(actor, {.kind = "begins", .name = describe(*history_.program_, op)});
}

void Operations::begin_evict(Actor& actor, const Op& op) {
  Node& node = history_.nodes_[actor.node];
  protocol::BlockRange range{history_.region_first_[op.region] + op.at, op.size};
  if (history_.program_->regions[op.region].sc()) {
    actor.start(node.sc().evict(actor.strand, range));
  } else {
    actor.start(node.hlrc().evict(actor.strand, range, op.value != 0));
  }
}

void Operations::check_reduced(const Actor& actor, const Op& op) const {
  if (!std::get<protocol::Task<bool>>(actor.operation).value())
    violated(Fault::kBadAnswer, "thread {} did not match the others in barrier {}", actor.id,
             op.at);
  if (op.kind == OpKind::kSideBarrier || op.size == 0) return;
  std::uint64_t sum = 0;
  if (actor.reduced.size() == sizeof sum) std::memcpy(&sum, actor.reduced.data(), sizeof sum);
  if (sum != sums_[op.phase])
    violated(Fault::kBadAnswer, "thread {} got {} from the barrier of phase {}, not {}", actor.id,
             sum, op.phase, sums_[op.phase]);
}

void Operations::begin_count(Actor& actor, const Op& op) {
  using protocol::CountOp;
  using protocol::Patience;
  protocol::Hlrc& hlrc = history_.nodes_[actor.node].hlrc();
  protocol::Strand& strand = actor.strand;
  LockId count = count_id(op.at);
  auto value = static_cast<std::int64_t>(op.value);
  switch (op.kind) {
    case OpKind::kPost:
      if (op.size != 0) --(op.size == 1 ? users_[op.at].readers : users_[op.at].writers);
      [[fallthrough]];
    case OpKind::kAdd:
      actor.start(hlrc.change_count(strand, count, CountOp::kAdd, value));
      break;
    case OpKind::kSet:
      actor.start(hlrc.change_count(strand, count, CountOp::kSet, value));
      break;
    case OpKind::kAwait:
      actor.start(hlrc.await_count(strand, count, value));
      break;
    case OpKind::kTake:
      actor.start(hlrc.take_units(strand, count, units_of(op),
                                  op.value == 0   ? Patience::kTry
                                  : op.value == 1 ? Patience::kForEver
                                                  : Patience::kExpires));
      break;
    case OpKind::kReady:
      ready_[op.at] = true;
      ++actor.next;
      break;
    case OpKind::kCondition:
      if (ready_[op.at]) {
        ++actor.next;
        break;
      }
      leave_lock(actor, static_cast<std::uint32_t>(op.value));
      actor.start(hlrc.wait_condition(strand, count, LockId{op.value},
                                      op.size == 0 ? Patience::kForEver : Patience::kExpires));
      break;
    case OpKind::kSignal:
      actor.start(hlrc.signal_condition(strand, count, op.value != 0));
      break;
    case OpKind::kPrepare:
      actor.start(hlrc.change_count(strand, count, CountOp::kTicket, value));
      break;
    case OpKind::kArrive:
      history_.checker_.clocks().enter(actor.id, kMaxBarriers + op.at, arrivals_[op.at]);
      actor.start(hlrc.arrive(strand, count));
      break;
    default:
      break;
  }
}

void Operations::take_room(const Actor& actor, const Op& op) {
  Users& users = users_[op.at];
  if (users.writers > 0 || (op.size == 2 && users.readers > 0))
    violated(Fault::kTwoHolders, "thread {} takes lock {} beside {} readers and {} writers",
             actor.id, op.at, users.readers, users.writers);
  ++(op.size == 1 ? users.readers : users.writers);
}

void Operations::take_lock(Actor& actor, std::uint32_t lock) {
  if (holder_[lock] != kNobody)
    violated(Fault::kTwoHolders, "threads {} and {} hold lock {}", holder_[lock], actor.id, lock);
  holder_[lock] = actor.id;
  history_.checker_.clocks().acquire(actor.id, lock);
}

void Operations::leave_lock(Actor& actor, std::uint32_t lock) {
  if (holder_[lock] != actor.id)
    violated(Fault::kTwoHolders, "thread {} lost lock {}", actor.id, lock);
  holder_[lock] = kNobody;
  history_.checker_.clocks().release(actor.id, lock);
}

// A program that is made smaller may have lost the operation that allocates the region.
void Operations::check_stands(const Op& op) const {
  if (!history_.region_stands_[op.region])
    violated(Fault::kBadAnswer, "region {} is not there", op.region);
}

// A load or store through the application view. It takes effect at once if the entry allows it.
// Otherwise a fault comes first.
void Operations::access(Actor& actor, const Op& op) {
  check_stands(op);
  std::uint32_t unit = history_.program_->setup.block_bytes;
  std::uint64_t block = history_.region_first_[op.region] + op.at / unit;
  Node& node = history_.nodes_[actor.node];
  Node::View& view = node.views[block];
  bool doomed = op.kind == OpKind::kDoomedStore;
  bool store = op.kind == OpKind::kStore || op.kind == OpKind::kFlagStore || doomed;
  if (history_.program_->setup.entries_vanish && history_.rng_.chance(5)) view.present = false;
  bool sc = history_.program_->setup.sequential || is_sequential(actor, op);
  bool scan = history_.program_->setup.scan && !history_.program_->regions[op.region].sc();
  if (!view.present || (store && view.guarded && (!scan || view.sealed))) {
    start_fault(actor, block, store ? Access::kWrite : Access::kRead);
    return;
  }
  if (sc) history_.check_alone(actor.node, block, store);
  std::byte* at = node.frame(block) + op.at % unit;
  std::uint64_t value = 0;
  bool looked_at = op.kind != OpKind::kFlagStore && !sc;
  if (looked_at) note_access(node, block, op.at % unit, op.size, store, unit);
  if (store) {
    view.guarded = false;
    if (history_.program_->setup.entries_vanish && scan && history_.rng_.chance(10))
      view.present = false;
    std::memcpy(at, &op.value, op.size);
    if (doomed) {
      if (--doomed_left_ == 0 && freer_ != kNobody)
        history_.doers_.make_ready(*history_.actors_[freer_]);
    } else {
      history_.checker_.store(actor.id, op);
    }
    value = op.value;
  } else {
    std::memcpy(&value, at, op.size);
  }
  if (history_.trace_)
    history_.trace_of(actor,
                      {.kind = store ? "store" : "load",
                       .block = history_.name_of_blocks({block, 1}),
                       .detail = fmt::format("byte {} ({} byte{}){}", op.at % unit, op.size,
                                             op.size == 1 ? "" : "s",
                                             store ? fmt::format(" = {:#x}", value_of(op)) : ""),
                       .result = store ? "" : fmt::format("{:#x}", value)});
  history_.outcome_.hash = (history_.outcome_.hash ^ value ^ actor.id) * 0x100000001b3u;
  history_.outcome_.accesses += op.kind != OpKind::kFinalLoad;
  if (!store) history_.checker_.load(actor.id, op);
  if (!store && !history_.checker_.may_load(actor.id, op, value))
    wrong_value(actor, op, value, history_.checker_.expected(op));
  if (op.kind == OpKind::kLoad && op.expected && *op.expected != value)
    wrong_value(actor, op, value, *op.expected);
  if (op.kind == OpKind::kFinalLoad && !history_.checker_.agrees(op, value))
    violated(Fault::kNodesDisagree,
             "{} finds {:#x} at byte {} of {} at the end, and another node found another value",
             name_of(actor, history_.network_), value, op.at % unit,
             history_.name_of_blocks({block, 1}));
  ++actor.next;
}

// Reports the thread, the block, and its first byte that differs.
void Operations::wrong_value(const Actor& actor, const Op& op, std::uint64_t found,
                             std::uint64_t expected) const {
  std::uint32_t unit = history_.program_->setup.block_bytes;
  auto byte = static_cast<std::uint32_t>(std::countr_zero(found ^ expected)) / 8;
  violated(Fault::kWrongValue,
           "{} {} {} bytes from byte {} of {} and finds {:#x}, where {:#x} is expected; byte {} is "
           "the first that differs",
           name_of(actor, history_.network_), op.kind == OpKind::kAtomic ? "operates on" : "loads",
           word_of(op).size, op.at % unit,
           history_.name_of_blocks({history_.region_first_[op.region] + op.at / unit, 1}), found,
           expected, op.at % unit + byte);
}

void Operations::begin_atomic(Actor& actor, const Op& op) {
  check_stands(op);
  std::uint32_t unit = history_.program_->setup.block_bytes;
  Op word = word_of(op);
  protocol::AtomicOp& atomic = actor.atomic;
  atomic = {.kind = static_cast<protocol::AtomicKind>(op.size >> 4),
            .size = word.size,
            .offset = op.at % unit,
            .operand = word.value};
  if (atomic.kind == protocol::AtomicKind::kCompareSwap)
    atomic.expected = op.value & 1 ? history_.checker_.expected(word) : word.value;
  if (is_sequential(actor, op)) {
    atomic_in_place(actor, op);
    return;
  }
  actor.doing = Actor::Doing::kAtomic;
  BlockId block{history_.region_first_[op.region] + op.at / unit};
  actor.start(history_.nodes_[actor.node].hlrc().atomic(actor.strand, block, atomic));
}

// An atomic operation of the machine, on a page that only one node may write.
void Operations::atomic_in_place(Actor& actor, const Op& op) {
  std::uint32_t unit = history_.program_->setup.block_bytes;
  std::uint64_t block = history_.region_first_[op.region] + op.at / unit;
  Node& node = history_.nodes_[actor.node];
  if (!node.views[block].present || node.views[block].guarded) {
    start_fault(actor, block, Access::kWrite);
    return;
  }
  history_.check_alone(actor.node, block, true);
  check_atomic(actor, protocol::perform(actor.atomic, node.frame(block)));
  ++actor.next;
}

// The operation was performed in its home's memory, so it is the latest access to its word.
void Operations::check_atomic(Actor& actor, std::uint64_t before) {
  Op word = word_of(of(actor));
  std::uint64_t expected = of(actor).expected.value_or(history_.checker_.expected(word));
  if (before != expected) wrong_value(actor, of(actor), before, expected);
  word.value = protocol::after(actor.atomic, before);
  history_.checker_.store(actor.id, word);
  ++history_.outcome_.accesses;
  history_.outcome_.hash = (history_.outcome_.hash ^ before ^ actor.id) * 0x100000001b3u;
  if (history_.trace_)
    history_.trace_of(actor, {.kind = describe(*history_.program_, of(actor)),
                              .result = fmt::format("{:#x}", before)});
}

void Operations::start_fault(Actor& actor, std::uint64_t block, Access wanted) {
  ++history_.outcome_.faults;
  actor.doing = Actor::Doing::kFault;
  if (history_.trace_)
    history_.trace_of(actor, {.kind = wanted == Access::kWrite ? "write fault" : "read fault",
                              .block = history_.name_of_blocks({block, 1})});
  Node& node = history_.nodes_[actor.node];
  if (block >= history_.program_->setup.space_blocks || node.hlrc().entry(block).synchronises()) {
    actor.start(node.sc().fault(actor.strand, BlockId{block}, wanted));
  } else {
    actor.start(node.hlrc().fault(actor.strand, BlockId{block}, wanted));
  }
}

// Allocations and frees go straight to the core.
void Operations::host_call(Actor& actor, const Op& op) {
  actor.doing = Actor::Doing::kHostCall;
  actor.wait = Actor::Wait::kResume;
  actor.resumed = false;
  history_.schedule_.park(actor.id);  // until the core resumes it, which may be at once
  protocol::WaiterId waiter = actor.strand.waiter();
  if (op.kind == OpKind::kAllocate) {
    const RegionPlan& plan = history_.program_->regions[op.region];
    protocol::RegionAllocate request{};
    request.blocks = plan.blocks;
    request.bytes = std::uint64_t{plan.blocks} * history_.program_->setup.block_bytes;
    request.policy.homes = static_cast<protocol::Homes>(plan.homes);
    bool explicitly = request.policy.homes == protocol::Homes::kExplicit;
    request.policy.argument = explicitly ? plan.home : 0;
    if (request.policy.homes == protocol::Homes::kCluster)
      request.policy.argument = plan.home % history_.program_->setup.clusters_used();
    request.policy.protocol = static_cast<protocol::Protocol>(plan.protocol);
    request.policy.propagation = static_cast<protocol::Propagation>(plan.propagation);
    request.sequence = static_cast<std::uint32_t>(op.value);
    request.waiter = waiter;
    history_.step_core(actor.node, request);
  } else {
    history_.region_stands_[op.region] = false;
    history_.step_core(actor.node,
                       protocol::RegionFree{BlockId{history_.region_first_[op.region]}, waiter});
  }
}

void Operations::finish_host_call(Actor& actor) {
  const Op& op = of(actor);
  auto status = static_cast<wire::RegionStatus>(actor.value);
  actor.doing = Actor::Doing::kProgram;
  actor.resumed = false;
  if (history_.trace_)
    history_.trace_of(
        actor,
        {.kind = describe(*history_.program_, op),
         .result = status == wire::RegionStatus::kOk ? "" : fmt::format("status {}", actor.value)});
  if (op.kind == OpKind::kAllocate) {
    if (status == wire::RegionStatus::kNoSpace)
      return;  // repeats the request when the freed blocks are dropped
    wire::RegionReply reply;
    std::vector<std::byte> answer = actor.strand.take_answer();
    protocol::Bytes payload(answer);
    if (status != wire::RegionStatus::kOk || !wire::take(payload, reply))
      violated(Fault::kBadAnswer, "an allocation was refused: {}", actor.value);
    std::uint64_t& first = history_.region_first_[op.region];
    if (first != History::kNoRegion && first != reply.first)
      violated(Fault::kBadAnswer, "a collective allocation gave blocks {} and {}", first,
               reply.first);
    first = reply.first;
    history_.region_stands_[op.region] = true;
    history_.checker_.allocated(op.region, first);
  } else {
    bool again = op.kind == OpKind::kFreeAgain;
    if (status != (again ? wire::RegionStatus::kUnknown : wire::RegionStatus::kOk))
      violated(Fault::kBadAnswer, "a free answered {}", actor.value);
  }
  ++actor.next;
}

void Operations::finish(Actor& actor) {
  switch (actor.doing) {
    case Actor::Doing::kFault:
      finish_fault(actor);
      return;
    case Actor::Doing::kAtomic: {
      auto result = std::get<protocol::Task<protocol::AtomicDone>>(actor.operation).value().result;
      actor.clear_operation();
      actor.doing = Actor::Doing::kProgram;
      if (result == FaultResult::kForeign)
        violated(Fault::kBadAnswer, "{} finds no region", describe(*history_.program_, of(actor)));
      if (result == FaultResult::kDone) ++actor.next;
      if (result == FaultResult::kNoMemory) free_memory(actor);
      return;
    }
    case Actor::Doing::kPromote: {
      auto result = std::get<protocol::Task<FaultResult>>(actor.operation).value();
      actor.clear_operation();
      actor.doing = Actor::Doing::kProgram;
      if (result == FaultResult::kForeign)
        violated(Fault::kBadAnswer, "{} finds no region", describe(*history_.program_, of(actor)));
      if (result == FaultResult::kDone && of(actor).kind == OpKind::kPromote) ++actor.next;
      if (result == FaultResult::kNoMemory) free_memory(actor);
      return;
    }
    case Actor::Doing::kEvictForMemory:
      break;  // the operation that needed memory is tried again
    default:
      finish_sync(actor, of(actor));
      if (!asks_again(of(actor), actor)) ++actor.next;
      break;
  }
  actor.clear_operation();
  actor.doing = Actor::Doing::kProgram;
}

void Operations::finish_fault(Actor& actor) {
  auto result = std::get<protocol::Task<FaultResult>>(actor.operation).value();
  actor.clear_operation();
  actor.doing = Actor::Doing::kProgram;
  bool nowhere = of(actor).kind == OpKind::kNowhere;
  if (nowhere != (result == FaultResult::kForeign) && result != FaultResult::kNoMemory)
    violated(Fault::kBadAnswer, "a fault of thread {} in {} answered {}", actor.id,
             describe(*history_.program_, of(actor)), static_cast<int>(result));
  if (nowhere) ++actor.next;
  if (result != FaultResult::kNoMemory) return;
  free_memory(actor);
}

void Operations::free_memory(Actor& actor) {
  actor.doing = Actor::Doing::kEvictForMemory;
  actor.start(history_.nodes_[actor.node].hlrc().free_memory(actor.strand));
}

void Operations::finish_sync(Actor& actor, const Op& op) {
  if (history_.trace_)
    history_.trace_of(actor, {.kind = "ends", .name = describe(*history_.program_, op)});
  switch (op.kind) {
    case OpKind::kLock:
      if (is_busy(actor)) break;
      actor.tries = 0;
      take_lock(actor, op.at);
      break;
    case OpKind::kFence:
    case OpKind::kFenceAwait:
      history_.checker_.clocks().end_fence(actor.id, actor.fence_told);
      break;
    case OpKind::kTake:
      if (op.size != 0 && !asks_again(op, actor)) take_room(actor, op);
      break;
    case OpKind::kArrive:
      if (std::get<protocol::Task<protocol::Arrival>>(actor.operation).value() ==
              protocol::Arrival::kNowhere ||
          !history_.checker_.clocks().leave(actor.id, kMaxBarriers + op.at, arrivals_[op.at]))
        violated(Fault::kBarrierLeak, "thread {} left meeting {} before all had come", actor.id,
                 op.at);
      break;
    case OpKind::kCondition:
      if (lock_result(actor) == LockResult::kNotHeld)
        violated(Fault::kBadAnswer, "thread {} waits with a lock that it does not hold", actor.id);
      take_lock(actor, static_cast<std::uint32_t>(op.value));
      break;
    case OpKind::kUnlock:
      if (lock_result(actor) != LockResult::kOk)
        violated(Fault::kBadAnswer, "unlock {} of thread {} was refused", op.at, actor.id);
      break;
    case OpKind::kGather:
      if (!history_.checker_.clocks().gather(actor.id, op.at, history_.program_->entrants(op)))
        violated(Fault::kBarrierLeak, "thread {} gathered at barrier {} before all had come",
                 actor.id, op.at);
      break;
    case OpKind::kBarrier:
    case OpKind::kSideBarrier:
      if (!history_.checker_.clocks().leave(actor.id, op.at, history_.program_->entrants(op)))
        violated(Fault::kBarrierLeak, "thread {} left barrier {} before all had come", actor.id,
                 op.at);
      check_reduced(actor, op);
      break;
    default:
      break;
  }
}

}  // namespace terrane::sim
