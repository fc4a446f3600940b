#include "frontend/threads/for_teams.h"

#include <link.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/before_start.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/program.h"
#include "frontend/threads/team_barriers.h"
#include "platform/page_size.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"
#include "waiting/backoff.h"

namespace terrane::frontend::threads {
namespace {

using protocol::LockResult;

Program& program() { return *Program::get(); }

LockId counter_id(std::uint32_t counter) {
  return runtime::count_id(runtime::CountKind::kCounter, counter);
}

terrane_program_locked locked(LockResult result) {
  if (result == LockResult::kOk) return kLockTaken;
  return result == LockResult::kHeldAlready ? kLockIsOwn : kLockIsBusy;
}

void require(const runtime::Outcome& outcome) {
  if (!outcome.ok()) program().node().fail(outcome.message);
}

// A thread that flushes again at once waits for a variable. Where a thread of its own node writes
// that, no news comes: it looks again after ever longer times.
constexpr std::uint64_t kAtOnceNs = 2000, kLongestWaitNs = 200'000;
constexpr std::uint32_t kPatientFlushes = 20;
thread_local std::uint64_t last_flush_ns = 0;
thread_local std::uint32_t flushes_at_once = 0;

void wait_to_flush() {
  runtime::Node& node = program().node();
  if (node.nodes() > 1) {
    std::uint64_t longest = std::min<std::uint64_t>(flushes_at_once * 10'000ull, kLongestWaitNs);
    node.await_fence(terrane::platform::now_ns() + longest);
  } else if (flushes_at_once < kPatientFlushes) {
    next<"sched_yield">(::sched_yield)();
  } else {
    std::uint32_t more = flushes_at_once - kPatientFlushes;
    next<"usleep">(::usleep)(std::min<std::uint32_t>(more, kLongestWaitNs / 1000));
  }
}

void add_thread_locals(const dl_phdr_info& info, std::vector<ThreadLocals>& all) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_TLS || info.dlpi_tls_data == nullptr) continue;
    all.push_back(
        {reinterpret_cast<std::uintptr_t>(info.dlpi_tls_data), info.dlpi_phdr[i].p_memsz});
  }
}

}  // namespace

std::vector<ThreadLocals> thread_locals() {
  std::vector<ThreadLocals> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* raw) {
        if (libraries().owner_at(info->dlpi_addr) == platform::ModuleOwner::kProgram)
          add_thread_locals(*info, *static_cast<std::vector<ThreadLocals>*>(raw));
        return 0;
      },
      &found);
  return found;
}

}  // namespace terrane::frontend::threads

using namespace terrane::frontend::threads;
using terrane::frontend::SharedRange;
using terrane::frontend::pages::kForEver;
using terrane::frontend::pages::kNoWait;
using terrane::protocol::LockResult;

#pragma GCC visibility push(default)
extern "C" {

bool terrane_program_has_started() { return !is_before_start(); }

std::uint32_t terrane_program_node() { return is_before_start() ? 0 : program().self(); }

std::uint32_t terrane_program_nodes() { return is_before_start() ? 1 : program().working(); }

bool terrane_program_are_together(std::uint32_t node, std::uint32_t other) {
  auto& own = program().node();
  return own.host_name(terrane::NodeId{node}) == own.host_name(terrane::NodeId{other});
}

bool terrane_program_is_spread() {
  for (std::uint32_t n = 1; n < program().working(); ++n)
    if (!terrane_program_are_together(0, n)) return true;
  return false;
}

std::uint32_t terrane_program_places() { return is_before_start() ? 1 : program().control().slots; }

bool terrane_program_is_main() {
  if (is_before_start()) return false;
  return this_thread().record == &program().control().records[0];
}

void* terrane_program_memory(std::size_t bytes) {
  void* memory = program().take_region(bytes, true);
  if (memory == nullptr) program().node().fail("no shared memory for a team of threads");
  return memory;
}

void** terrane_program_root(terrane_program_kept what) {
  static void* own[kProgramRoots];
  return is_before_start() ? &own[what] : &program().control().for_teams[what];
}

void* terrane_program_homed_memory(std::size_t bytes, terrane_program_homes homes,
                                   std::uint32_t node) {
  using terrane::wire::Homes;
  if (is_before_start()) return before_start::pages(bytes);
  constexpr Homes kHomes[] = {Homes::kFirstTouch, Homes::kBlock, Homes::kCyclic, Homes::kExplicit};
  terrane::protocol::RegionPolicy policy{.homes = kHomes[homes], .argument = node};
  std::uint32_t working = program().working();
  if (homes == kProgramBlocks && working < program().node().nodes()) {
    std::uint64_t page = program().node().block_bytes(), part = page * working;
    policy.homes = Homes::kBlockCyclic;
    policy.argument = static_cast<std::uint32_t>((bytes + part - 1) / part);
  }
  return program().take_region(bytes, policy);
}

std::uint32_t terrane_program_cycle_nodes() {
  return is_before_start() ? 1 : program().node().nodes();
}

void terrane_program_give_memory(void* memory) {
  is_before_start() ? before_start::give_pages(memory) : program().give_region(memory);
}

std::uint64_t terrane_program_atomic(terrane_program_operation operation, void* word,
                                     std::uint64_t operand) {
  using terrane::protocol::AtomicKind;
  constexpr AtomicKind kKinds[] = {AtomicKind::kLoad, AtomicKind::kStore, AtomicKind::kAdd,
                                   AtomicKind::kOr, AtomicKind::kAnd};
  std::uint64_t before = 0;
  require(program().node().atomic(word, {.kind = kKinds[operation], .operand = operand}, before));
  return before;
}

void terrane_program_relax_atomics() {
  terrane::frontend::pages::serve_atomics_at_home([](const void* word) -> const void* {
    terrane::runtime::Node& node = program().node();
    std::size_t inside = reinterpret_cast<std::uintptr_t>(word) % node.block_bytes();
    return node.address_of(program().block_of(word)) + inside;
  });
}

void terrane_program_look() {
  if (!is_before_start()) program().node().look();
}

void terrane_program_repeat(void (*function)(), std::uint32_t pause_us) {
  Private ours;
  auto repeat = [=] {
    for (;;) {
      terrane::frontend::next<"usleep">(::usleep)(pause_us);
      function();
    }
  };
  terrane::platform::start_without_signals(repeat).detach();
}

void* terrane_program_private_memory(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  Private ours;
  void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) & ~(kAlignment - 1));
  if (memory == nullptr) terrane_program_fail("no memory for a team of threads");
  return std::memset(memory, 0, bytes);
}

void terrane_program_wait(std::atomic<std::uint32_t>* word, std::uint32_t value, bool polls) {
  using namespace terrane::waiting;
  wait_while_equal(*word, value, polls ? kCrowdedNs : 0);
}

void terrane_program_wake(std::atomic<std::uint32_t>* word) {
  terrane::platform::futex_wake_all(*word);
}

void terrane_program_has_barriers(std::uint32_t count) { set_team_barriers(count); }

void terrane_program_barrier(std::uint32_t id, std::uint32_t threads_here) {
  team_barrier(program(), id, threads_here);
}

void terrane_program_join(std::uint32_t id, std::uint32_t threads_here) {
  team_join(program(), id, threads_here);
}

void terrane_program_fork(std::uint32_t id, std::uint32_t threads_here, const void* told,
                          void* heard, std::size_t bytes) {
  std::span<const std::byte> given(static_cast<const std::byte*>(told),
                                   told == nullptr ? 0 : bytes);
  team_fork(program(), id, threads_here, given, {static_cast<std::byte*>(heard), bytes});
}

terrane_program_locked terrane_program_lock(const void* address) {
  if (is_before_start()) return before_start::lock(address);
  return locked(program().node().lock_until(lock_of(address), kForEver));
}

terrane_program_locked terrane_program_try_lock(const void* address) {
  if (is_before_start()) return before_start::lock(address);
  return locked(program().node().lock_until(lock_of(address), kNoWait));
}

bool terrane_program_unlock(const void* address) {
  if (is_before_start()) return before_start::unlock(address);
  return program().node().unlock_held(lock_of(address)) == LockResult::kOk;
}

std::int64_t terrane_program_add(std::uint32_t counter, std::int64_t amount) {
  if (is_before_start()) return before_start::add(counter, amount);
  std::int64_t before = 0;
  require(program().node().change_count(counter_id(counter), terrane::protocol::CountOp::kAdd,
                                        amount, &before));
  return before;
}

void terrane_program_await(std::uint32_t counter, std::int64_t at_least) {
  if (is_before_start()) return before_start::await(counter, at_least);
  require(program().node().await_count(counter_id(counter), at_least));
}

void terrane_program_flush() {
  if (this_thread().record == nullptr) return;
  terrane::runtime::Node& node = program().node();
  std::uint64_t now = terrane::platform::now_ns();
  bool at_once = now - last_flush_ns < kAtOnceNs;
  bool moved = node.fence();
  flushes_at_once = at_once && !moved ? flushes_at_once + 1 : 0;
  if (flushes_at_once > 0) wait_to_flush();
  last_flush_ns = terrane::platform::now_ns();
}

std::size_t terrane_program_tls_bytes() {
  std::size_t bytes = 0;
  for (const ThreadLocals& one : program().first_thread_locals()) bytes += one.bytes;
  return bytes;
}

void terrane_program_tls_save(void* copy) {
  auto* to = static_cast<std::byte*>(copy);
  for (const ThreadLocals& one : program().first_thread_locals()) {
    std::memcpy(to, reinterpret_cast<const void*>(one.address), one.bytes);
    to += one.bytes;
  }
}

void terrane_program_tls_load(const void* copy) {
  auto* from = static_cast<const std::byte*>(copy);
  for (const ThreadLocals& one : program().first_thread_locals()) {
    std::memcpy(reinterpret_cast<void*>(one.address), from, one.bytes);
    from += one.bytes;
  }
}

bool terrane_program_tls_equals(const void* copy) {
  auto* from = static_cast<const std::byte*>(copy);
  for (const ThreadLocals& one : program().first_thread_locals()) {
    if (std::memcmp(reinterpret_cast<const void*>(one.address), from, one.bytes) != 0) return false;
    from += one.bytes;
  }
  return true;
}

std::size_t terrane_program_tls_behind(const void* address) {
  Private ours;
  auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const ThreadLocals& one : thread_locals())
    if (at - one.address < one.bytes) return one.bytes - (at - one.address);
  return 0;
}

const void* terrane_program_stack_end() { return this_thread().stack.top(); }

bool terrane_program_is_shared(const void* address) {
  return is_before_start() || SharedRange::contains(address);
}

void terrane_program_touch(const void* address) {
  terrane::runtime::Node& node = program().node();
  require(node.touch(node.address_of(program().block_of(address)), 1, true));
}

std::size_t terrane_program_page_bytes() {
  return is_before_start() ? terrane::platform::page_bytes() : program().node().block_bytes();
}

std::uint64_t terrane_program_allocation(const void* address) {
  terrane::protocol::Region region = program().node().allocation_of(program().block_of(address));
  bool is_one = region.blocks.count != 0 && std::string_view(region.name) != kSmallBlocks;
  return is_one ? region.id.value + 1 : 0;
}

void terrane_program_fail(const char* sentence) {
  is_before_start() ? before_start::fail(sentence) : program().node().fail(sentence);
  __builtin_unreachable();
}

}  // extern "C"
#pragma GCC visibility pop
