#include <pthread.h>
#include <terrane/pages.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/thread_text.h"
#include "frontend/interpose/in_front.h"
#include "frontend/interpose/rebind.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/pages/objects/shared_object.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"
#include "runtime/node.h"

namespace {

using terrane::runtime::count_id;
using terrane::runtime::CountKind;
using terrane::runtime::Node;
using terrane::runtime::Outcome;
using terrane::runtime::Status;

// The one Node of this process, behind the C interface.
struct Process {
  std::mutex mutex;  // of init and finalize
  std::unique_ptr<Node> owned;
  std::atomic<Node*> node{nullptr};
  bool left = false;
  bool is_child = false;  // a child of the process that joined; it has no node
};
Process& process() {
  static auto* one = new Process();  // never destroyed: threads may run on while the process exits
  return *one;
}

std::string& last_error() { return terrane::base::thread_text<Process>(); }

int fail(Status status, std::string message) {
  last_error() = std::move(message);
  return static_cast<int>(status);
}

int fail_in_child(const char* call) {
  return fail(Status::kState,
              fmt::format("{} in a child of the process that joined the job: that one alone has "
                          "shared memory",
                          call));
}

// What --check-fails makes of the exit code of a program that would end well; all other handlers of
// exit run afterwards, as they would have. By the thread that finalizes.
void fail_at_exit(int code) {
  static int wanted = 0;
  wanted = code;
  if (code == 0) return;
  ::on_exit(
      [](int own, void*) {
        if (own == 0) std::exit(wanted);
      },
      nullptr);
}

// Neither shared memory nor the node's threads are in a child. Takes no lock: another thread of the
// parent may have held it.
void leave_in_child() {
  terrane::frontend::SharedRange::clear();
  Process& self = process();
  self.is_child = self.is_child || self.node.load(std::memory_order_relaxed) != nullptr;
  self.node.store(nullptr, std::memory_order_relaxed);
}

// Calls `function` with the node; an Outcome becomes a status and the thread's last error.
template <typename Function>
int with_node(const char* call, Function function) noexcept {
  Node* node = process().node.load(std::memory_order_acquire);
  if (node == nullptr) {
    if (process().is_child) return fail_in_child(call);
    return fail(Status::kState,
                fmt::format("{} {}", call,
                            process().left ? "after terrane_finalize" : "before terrane_init"));
  }
  Outcome outcome = function(*node);
  return outcome.ok() ? TERRANE_OK : fail(outcome.status, std::move(outcome.message));
}

// What the caller gave for an enumeration, in range or not.
template <typename Enum>
std::uint32_t number_of(const Enum& given) {
  std::uint32_t number = 0;
  static_assert(sizeof number == sizeof given);
  std::memcpy(&number, &given, sizeof number);
  return number;
}

// A struct that the program was compiled with may be shorter or longer than this version's.
// `least`: the bytes of version 0.1, which a size of 0 means. What a longer one holds beyond
// this version's must be 0. Returns nullopt for a size that cannot be, and for such settings.
std::optional<std::size_t> known_bytes(const void* given, std::uint64_t size, std::size_t least,
                                       std::size_t own) {
  constexpr std::uint64_t kMost = 4096;
  if (size == 0) return least;
  if (size < least || size > kMost) return std::nullopt;
  const auto* bytes = static_cast<const std::byte*>(given);
  for (std::size_t at = own; at < size; ++at)
    if (bytes[at] != std::byte{0}) return std::nullopt;
  return std::min<std::size_t>(size, own);
}

// The options as this version has them; what the caller's version lacks is 0.
Outcome read_options(const char* call, const terrane_alloc_options& given,
                     terrane_alloc_options& options) {
  constexpr std::size_t kLeast = 32;
  static_assert(sizeof given >= kLeast && offsetof(terrane_alloc_options, size) == kLeast - 4);
  auto bytes = known_bytes(&given, given.size, kLeast, sizeof given);
  if (!bytes)
    return {Status::kInvalid,
            fmt::format("{}: options.size {}: set it to sizeof(terrane_alloc_options); Terrane {} "
                        "knows {} bytes of options, and later ones must be 0",
                        call, given.size, TERRANE_VERSION, sizeof given)};
  std::memset(&options, 0, sizeof options);
  std::memcpy(&options, &given, *bytes);
  return {};
}

// What the caller chose for the region -> out, checked as far as no job is needed.
Outcome read_policy(const char* call, const terrane_alloc_options& options,
                    terrane::protocol::RegionPolicy& out) {
  namespace protocol = terrane::protocol;
  std::uint32_t homes = number_of(options.homes);
  std::uint32_t kind = number_of(options.protocol);
  std::uint32_t propagation = number_of(options.propagation);
  auto refused = [&](const char* what, std::uint32_t number, const char* kind_of) -> Outcome {
    return {Status::kInvalid, fmt::format("{}: {} {} is no {}", call, what, number, kind_of)};
  };
  if (homes > TERRANE_HOMES_CLUSTER) return refused("homes", homes, "home policy");
  if (kind > TERRANE_PROTOCOL_SC) return refused("protocol", kind, "protocol of regions");
  if (propagation > TERRANE_UPDATE) return refused("propagation", propagation, "propagation");
  out.homes = static_cast<protocol::Homes>(homes);
  out.protocol = static_cast<protocol::Protocol>(kind);
  out.propagation = static_cast<protocol::Propagation>(propagation);
  if (out.homes == protocol::Homes::kExplicit) out.argument = options.home;
  if (out.homes == protocol::Homes::kCluster) out.argument = options.cluster;
  if (out.homes == protocol::Homes::kBlockCyclic) {
    if (options.block_pages == 0) return refused("block_pages", 0, "length of a row of pages");
    out.argument = options.block_pages;
  }
  return {};
}

void* allocate(const char* call, size_t bytes, const terrane_alloc_options* options,
               bool collective) noexcept {
  void* address = nullptr;
  with_node(call, [&](Node& node) -> Outcome {
    terrane::runtime::Allocation allocation;
    allocation.collective = collective;
    if (options != nullptr) {
      terrane_alloc_options own;
      if (Outcome good = read_options(call, *options, own); !good.ok()) return good;
      if (Outcome good = read_policy(call, own, allocation.policy); !good.ok()) return good;
      if (own.name != nullptr) allocation.name = own.name;
    }
    return node.allocate(bytes, allocation, address);
  });
  return address;
}

int atomic(const char* call, const void* address, size_t bytes, terrane::protocol::AtomicKind kind,
           uint64_t operand, uint64_t expected, uint64_t* before) noexcept {
  return with_node(call, [&](Node& node) -> Outcome {
    if (bytes != 4 && bytes != 8)
      return {Status::kInvalid,
              fmt::format("{}: a word of {} bytes; it may have 4 or 8", call, bytes)};
    uint64_t mask = bytes == 4 ? 0xffffffffu : ~uint64_t{0};
    uint64_t was = 0;
    Outcome outcome = node.atomic(address,
                                  {.kind = kind,
                                   .size = static_cast<uint8_t>(bytes),
                                   .operand = operand & mask,
                                   .expected = expected & mask},
                                  was);
    if (outcome.ok() && before != nullptr) *before = was;
    return outcome;
  });
}

// A time of platform::now_ns().
std::uint64_t time_after(std::uint64_t timeout_ns) {
  std::uint64_t now = terrane::platform::now_ns();
  return timeout_ns < terrane::runtime::WaitLimit::kNever - 1 - now
             ? now + timeout_ns
             : terrane::runtime::WaitLimit::kNever - 1;
}

Outcome too_late(const char* what) { return {Status::kTimedOut, what}; }

int await_count_for(const char* call, CountKind kind, std::uint32_t number, std::int64_t at_least,
                    std::uint64_t timeout_ns) noexcept {
  return with_node(call, [&](Node& node) -> Outcome {
    if (node.await_count_until(count_id(kind, number), at_least, time_after(timeout_ns))) return {};
    return too_late(kind == CountKind::kFlag ? "the flag was not set in time"
                                             : "the counter did not get so high in time");
  });
}

int set_flag(const char* call, uint32_t flag, int64_t value) noexcept {
  return with_node(call, [&](Node& node) {
    return node.change_count(count_id(CountKind::kFlag, flag), terrane::protocol::CountOp::kSet,
                             value);
  });
}

}  // namespace

terrane::runtime::Node* terrane::frontend::pages::node() {
  return process().node.load(std::memory_order_acquire);
}

extern "C" {

int terrane_init(void) noexcept {
  Process& self = process();
  if (self.is_child) return fail_in_child("terrane_init");
  std::lock_guard hold(self.mutex);
  if (self.owned != nullptr || self.left) {
    return fail(Status::kState,
                self.left ? "terrane_init after terrane_finalize" : "terrane_init twice");
  }
  if (!terrane::frontend::library_behind_libc().empty()) terrane::frontend::come_to_the_front();
  auto node = terrane::platform::without_exceptions([] { return Node::join(); });
  if (!node) return fail(Status::kSystem, node.error().message);
  self.owned = std::move(node).value();
  pthread_atfork(nullptr, nullptr, leave_in_child);
  self.node.store(self.owned.get(), std::memory_order_release);
  terrane::frontend::SharedRange::set(self.owned->shared_base(), self.owned->shared_bytes());
  return TERRANE_OK;
}

int terrane_finalize(void) noexcept {
  Process& self = process();
  if (self.is_child) return fail_in_child("terrane_finalize");
  std::lock_guard hold(self.mutex);
  return with_node("terrane_finalize", [&](Node& node) -> Outcome {
    fail_at_exit(node.leave());
    terrane::frontend::SharedRange::clear();
    self.left = true;
    self.node.store(nullptr, std::memory_order_release);
    self.owned.reset();
    return {};
  });
}

int terrane_node(void) noexcept {
  int number = 0;
  int status = with_node("terrane_node", [&](Node& node) -> Outcome {
    number = static_cast<int>(node.self().value);
    return {};
  });
  return status == TERRANE_OK ? number : status;
}

int terrane_clusters(void) noexcept {
  int number = 0;
  int status = with_node("terrane_clusters", [&](Node& node) -> Outcome {
    number = static_cast<int>(node.clusters().count());
    return {};
  });
  return status == TERRANE_OK ? number : status;
}

int terrane_cluster(void) noexcept {
  int number = 0;
  int status = with_node("terrane_cluster", [&](Node& node) -> Outcome {
    number = static_cast<int>(node.clusters().of(node.self()));
    return {};
  });
  return status == TERRANE_OK ? number : status;
}

int terrane_cluster_of(int of) noexcept {
  int number = 0;
  int status = with_node("terrane_cluster_of", [&](Node& node) -> Outcome {
    if (of < 0 || static_cast<std::uint32_t>(of) >= node.nodes())
      return {Status::kInvalid,
              fmt::format("there is no node {}: the job has {} nodes", of, node.nodes())};
    number = static_cast<int>(node.clusters().of(terrane::NodeId{static_cast<std::uint32_t>(of)}));
    return {};
  });
  return status == TERRANE_OK ? number : status;
}

int terrane_nodes(void) noexcept {
  int number = 0;
  int status = with_node("terrane_nodes", [&](Node& node) -> Outcome {
    number = static_cast<int>(node.nodes());
    return {};
  });
  return status == TERRANE_OK ? number : status;
}

void* terrane_alloc(size_t bytes, const terrane_alloc_options* options) noexcept {
  return allocate("terrane_alloc", bytes, options, false);
}

void* terrane_alloc_all(size_t bytes, const terrane_alloc_options* options) noexcept {
  return allocate("terrane_alloc_all", bytes, options, true);
}

int terrane_free(void* address) noexcept {
  return with_node("terrane_free", [&](Node& node) { return node.free(address); });
}

int terrane_lock(uint32_t lock) noexcept {
  return with_node("terrane_lock", [&](Node& node) { return node.lock(terrane::LockId{lock}); });
}

int terrane_lock_for(uint32_t lock, uint64_t timeout_ns) noexcept {
  return with_node("terrane_lock_for", [&](Node& node) -> Outcome {
    using terrane::protocol::LockResult;
    std::uint64_t until_ns = timeout_ns == 0 ? 0 : time_after(timeout_ns);
    LockResult result = node.lock_until(terrane::LockId{lock}, until_ns);
    if (result == LockResult::kHeldAlready)
      return {Status::kInvalid,
              fmt::format("lock {} is held by this thread already; locks are not recursive", lock)};
    return result == LockResult::kOk ? Outcome{} : too_late("the lock did not get free in time");
  });
}

int terrane_unlock(uint32_t lock) noexcept {
  return with_node("terrane_unlock",
                   [&](Node& node) { return node.unlock(terrane::LockId{lock}); });
}

int terrane_counter_fetch(uint32_t counter, terrane_counter_op op, int64_t operand,
                          int64_t* before) noexcept {
  return with_node("terrane_counter_fetch", [&](Node& node) -> Outcome {
    using terrane::protocol::CountOp;
    static_assert(static_cast<int>(CountOp::kMax) == TERRANE_COUNTER_MAX);
    std::uint32_t number = number_of(op);
    if (number > TERRANE_COUNTER_MAX)
      return {Status::kInvalid, fmt::format("terrane_counter_fetch: {} is no operation", number)};
    return node.change_count(count_id(CountKind::kCounter, counter), static_cast<CountOp>(number),
                             operand, before);
  });
}

int terrane_counter_wait(uint32_t counter, int64_t at_least) noexcept {
  return with_node("terrane_counter_wait", [&](Node& node) {
    return node.await_count(count_id(CountKind::kCounter, counter), at_least);
  });
}

int terrane_counter_wait_for(uint32_t counter, int64_t at_least, uint64_t timeout_ns) noexcept {
  return await_count_for("terrane_counter_wait_for", CountKind::kCounter, counter, at_least,
                         timeout_ns);
}

int terrane_flag_wait_for(uint32_t flag, uint64_t timeout_ns) noexcept {
  return await_count_for("terrane_flag_wait_for", CountKind::kFlag, flag, 1, timeout_ns);
}

int terrane_flag_set(uint32_t flag) noexcept { return set_flag("terrane_flag_set", flag, 1); }

int terrane_flag_clear(uint32_t flag) noexcept { return set_flag("terrane_flag_clear", flag, 0); }

int terrane_flag_wait(uint32_t flag) noexcept {
  return with_node("terrane_flag_wait", [&](Node& node) {
    return node.await_count(count_id(CountKind::kFlag, flag), 1);
  });
}

int terrane_semaphore_post(uint32_t semaphore, uint32_t units) noexcept {
  return with_node("terrane_semaphore_post", [&](Node& node) -> Outcome {
    if (units == 0) return {Status::kInvalid, "terrane_semaphore_post: 0 units"};
    return node.change_count(count_id(CountKind::kSemaphore, semaphore),
                             terrane::protocol::CountOp::kAdd, units);
  });
}

int terrane_semaphore_wait(uint32_t semaphore) noexcept {
  return with_node("terrane_semaphore_wait", [&](Node& node) -> Outcome {
    node.take_units(count_id(CountKind::kSemaphore, semaphore), {}, ~0ull);
    return {};
  });
}

int terrane_semaphore_wait_for(uint32_t semaphore, uint64_t timeout_ns) noexcept {
  return with_node("terrane_semaphore_wait_for", [&](Node& node) -> Outcome {
    std::uint64_t until_ns = timeout_ns == 0 ? 0 : time_after(timeout_ns);
    if (node.take_units(count_id(CountKind::kSemaphore, semaphore), {}, until_ns)) return {};
    return too_late("the semaphore had no unit in time");
  });
}

int terrane_semaphore_try(uint32_t semaphore) noexcept {
  return with_node("terrane_semaphore_try", [&](Node& node) -> Outcome {
    if (node.take_units(count_id(CountKind::kSemaphore, semaphore), {}, 0)) return {};
    return {Status::kBusy, "the semaphore has no unit"};
  });
}

int terrane_condition_wait(uint32_t condition, uint32_t lock) noexcept {
  return with_node("terrane_condition_wait", [&](Node& node) {
    return node.wait_condition(count_id(CountKind::kCondition, condition), terrane::LockId{lock});
  });
}

int terrane_condition_signal(uint32_t condition) noexcept {
  return with_node("terrane_condition_signal", [&](Node& node) {
    return node.signal_condition(count_id(CountKind::kCondition, condition), false);
  });
}

int terrane_condition_broadcast(uint32_t condition) noexcept {
  return with_node("terrane_condition_broadcast", [&](Node& node) {
    return node.signal_condition(count_id(CountKind::kCondition, condition), true);
  });
}

int terrane_barrier(void) noexcept { return terrane_barrier_threads(0, 1); }

int terrane_barrier_threads(uint32_t barrier, uint32_t threads_here) noexcept {
  return with_node("terrane_barrier", [&](Node& node) {
    return node.barrier(terrane::BarrierId{barrier}, threads_here);
  });
}

int terrane_barrier_reduce(uint32_t barrier, uint32_t threads_here, terrane_reduce_op op,
                           terrane_type type, const void* in, void* out, size_t count) noexcept {
  return with_node("terrane_barrier_reduce", [&](Node& node) -> Outcome {
    using namespace terrane::protocol;
    static_assert(static_cast<int>(ReduceOp::kXor) == TERRANE_XOR &&
                  static_cast<int>(ReduceType::kDouble) == TERRANE_DOUBLE);
    std::uint32_t op_number = number_of(op), type_number = number_of(type);
    bool of_bits = op_number >= TERRANE_AND;
    if (op_number < TERRANE_SUM || op_number > TERRANE_XOR || type_number > TERRANE_DOUBLE ||
        (of_bits && type_number == TERRANE_DOUBLE))
      return {Status::kInvalid,
              fmt::format("terrane_barrier_reduce: operation {} of type {} is none", op_number,
                          type_number)};
    if (in == nullptr || out == nullptr)
      return {Status::kInvalid, "terrane_barrier_reduce: in or out is NULL"};
    if (count == 0 || count > kMaxReduced)
      return {Status::kInvalid,
              fmt::format("terrane_barrier_reduce: {} values; 1 to {} go", count, kMaxReduced)};
    Contribution contribution{static_cast<ReduceOp>(op_number),
                              static_cast<ReduceType>(type_number),
                              {static_cast<const std::byte*>(in), count * kReducedBytes}};
    return node.barrier_reduce(terrane::BarrierId{barrier}, threads_here, contribution,
                               static_cast<std::byte*>(out));
  });
}

int terrane_atomic_load(const void* address, size_t bytes, uint64_t* value) noexcept {
  if (value == nullptr) return fail(Status::kInvalid, "terrane_atomic_load: value is NULL");
  return atomic("terrane_atomic_load", address, bytes, terrane::protocol::AtomicKind::kLoad, 0, 0,
                value);
}

int terrane_atomic_store(void* address, size_t bytes, uint64_t value) noexcept {
  return atomic("terrane_atomic_store", address, bytes, terrane::protocol::AtomicKind::kStore,
                value, 0, nullptr);
}

int terrane_atomic_fetch(void* address, size_t bytes, terrane_atomic_op op, uint64_t operand,
                         uint64_t* before) noexcept {
  using enum terrane::protocol::AtomicKind;
  constexpr terrane::protocol::AtomicKind kKinds[] = {kStore, kAdd, kAnd, kOr, kXor};
  std::uint32_t number = number_of(op);
  if (number >= std::size(kKinds))
    return fail(Status::kInvalid, fmt::format("terrane_atomic_fetch: {} is no operation", number));
  return atomic("terrane_atomic_fetch", address, bytes, kKinds[number], operand, 0, before);
}

int terrane_atomic_compare_exchange(void* address, size_t bytes, uint64_t* expected,
                                    uint64_t desired) noexcept {
  if (expected == nullptr)
    return fail(Status::kInvalid, "terrane_atomic_compare_exchange: expected is NULL");
  uint64_t before = 0;
  int status = atomic("terrane_atomic_compare_exchange", address, bytes,
                      terrane::protocol::AtomicKind::kCompareSwap, desired, *expected, &before);
  if (status != TERRANE_OK) return status;
  bool exchanged = before == (bytes == 4 ? static_cast<uint32_t>(*expected) : *expected);
  *expected = before;
  return exchanged ? TERRANE_OK : TERRANE_EBUSY;
}

int terrane_touch(const void* address, size_t bytes, int access) noexcept {
  return with_node("terrane_touch", [&](Node& node) -> Outcome {
    if (access < TERRANE_READ || access > (TERRANE_READ | TERRANE_WRITE))
      return {Status::kInvalid, fmt::format("terrane_touch: access {} is none", access)};
    return node.touch(address, bytes, (access & TERRANE_WRITE) != 0);
  });
}

int terrane_evict(const void* address, size_t bytes) noexcept {
  return with_node("terrane_evict", [&](Node& node) { return node.evict(address, bytes); });
}

int terrane_read_counters_sized(terrane_counters* out, size_t bytes) noexcept {
  return with_node("terrane_read_counters", [&](Node& node) -> Outcome {
    if (out == nullptr) return {Status::kInvalid, "terrane_read_counters: out is NULL"};
    auto totals = node.totals();
    static_assert(sizeof totals == sizeof *out);
    constexpr std::size_t kLeast = 18 * sizeof(std::uint64_t);
    if (bytes < kLeast)
      return {
          Status::kInvalid,
          fmt::format("terrane_read_counters: {} bytes; counters have {} or more", bytes, kLeast)};
    std::memset(out, 0, bytes);
    std::memcpy(out, &totals, std::min(bytes, sizeof totals));
    return {};
  });
}

const char* terrane_error(void) noexcept { return last_error().c_str(); }

const char* terrane_version(void) noexcept { return TERRANE_VERSION; }

}  // extern "C"
