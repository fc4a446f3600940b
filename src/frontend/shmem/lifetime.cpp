#include "frontend/shmem/lifetime.h"

#include <pthread.h>
#include <shmem.h>
#include <terrane/shmem/constants.h>
#include <terrane/shmem/fast.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "frontend/shmem/call_place.h"
#include "frontend/shmem/call_times.h"
#include "frontend/shmem/checks.h"
#include "frontend/shmem/process.h"
#include "platform/quiet_thread.h"
#include "waiting/backoff.h"

struct terrane_shmem_fast terrane_shmem_fast;

namespace terrane::frontend::shmem {

using runtime::shmem::JobWorld;

namespace {

void introduce(const runtime::shmem::Settings& settings) {
  if (settings.tell_version)
    std::fprintf(stderr, "%s (OpenSHMEM %d.%d)\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION,
                 SHMEM_MINOR_VERSION);
  if (settings.tell_variables) std::fputs(runtime::shmem::describe_variables().c_str(), stderr);
}

}  // namespace

Lifetime& Lifetime::of_process() {
  static auto* one = new Lifetime();  // never destroyed: threads may run on while the process exits
  return *one;
}

int Lifetime::begin(const char* call, int threads) {
  if (is_child_) fail_outside(call);
  std::lock_guard hold(mutex_);
  if (begun_++ == 0) join(call);
  if (!std::exchange(ends_at_exit_, true)) ::on_exit(&Lifetime::end_at_exit, nullptr);
  threads_ = std::max(threads_, threads);
  initialiser_ = std::this_thread::get_id();
  return threads_;
}

void Lifetime::begin_until_exit() {
  if (is_initialised()) return;
  begin("start_pes", 0);
  until_exit_ = true;
}

// A program that ends in order need not call shmem_finalize. One that exits with another code has
// failed: the others must hear of that, and not wait for it.
void Lifetime::end_at_exit(int status, void*) {
  Lifetime& self = of_process();
  if (status != 0 || !self.is_initialised() || self.job_has_ended_.load()) return;
  if (checks_calls() && !self.until_exit_)
    base::log("this PE ends without shmem_finalize; its exit does the same");
  while (self.is_initialised()) self.end("exit");
}

void Lifetime::join(const char* call) {
  if (owned_ == nullptr) {
    auto world = platform::without_exceptions([] { return JobWorld::connect(place_of_call); });
    if (!world) {
      base::log("{}: {}", call, world.error().message);
      ::_exit(1);
    }
    owned_ = std::move(world).value();
    pthread_atfork(nullptr, nullptr, [] { of_process().become_child(); });
  }
  bool returns = owned_->has_joined();
  auto joined =
      platform::without_exceptions([&] { return returns ? owned_->rejoin() : owned_->join(); });
  if (!joined) owned_->fail(joined.error().message);
  if (auto begun = Timed::begin_recording(*owned_); !begun) owned_->fail(begun.error().message);
  start_teams();
  fill_fast_path();
  if (!returns && owned_->self().value == 0) introduce(owned_->settings());
  world_.store(owned_.get(), std::memory_order_release);
}

void Lifetime::start_teams() {
  const char* choices = std::getenv("TERRANE_SHMEM_ALGORITHM");
  auto started = runtime::shmem::Teams::start(*owned_, !waiting::threads_fit_processors(),
                                              choices != nullptr ? choices : "");
  if (!started) owned_->fail(started.error().message);
  teams_ = std::move(started).value();
}

void Lifetime::fill_fast_path() {
  if (checks_calls()) return;  // all calls take the long way
  const auto& memory = owned_->memory();
  auto heap = memory.own().heap;
  heap_deltas_.assign(memory.heap_deltas().begin(), memory.heap_deltas().end());
  terrane_shmem_fast.pes = owned_->pes();
  terrane_shmem_fast.self = owned_->self().value;
  terrane_shmem_fast.one_host = owned_->one_host() ? 1 : 0;
  terrane_shmem_fast.heap_base = reinterpret_cast<std::uintptr_t>(heap.data());
  terrane_shmem_fast.heap_delta = heap_deltas_.data();
  terrane_shmem_fast.heap_bytes = heap.size();
  const auto& program = owned_->statics().program();
  if (program.bytes == 0) return;
  statics_deltas_ = memory.segment_deltas(program);
  terrane_shmem_fast.statics_base = program.address;
  terrane_shmem_fast.statics_delta = statics_deltas_.data();
  terrane_shmem_fast.statics_bytes = program.bytes;
}

void Lifetime::end(const char* call) {
  std::lock_guard hold(mutex_);
  if (!is_initialised()) fail_outside(call);
  if (--begun_ > 0) {
    owned_->all_agree(true);
    return;
  }
  teams_->world_team().reach().quiet();
  Timed::end_recording(*owned_);
  owned_->leave();
  teams_.reset();
  terrane_shmem_fast = {};
  world_.store(nullptr, std::memory_order_release);
  threads_ = 0;
}

// Takes no lock: another thread of the parent may have held it.
void Lifetime::become_child() {
  is_child_ = true;
  Timed::forget();
  terrane_shmem_fast = {};
  world_.store(nullptr, std::memory_order_relaxed);
}

void Lifetime::check_thread(const char* call) {
  if (threads_ >= SHMEM_THREAD_SERIALIZED || std::this_thread::get_id() == initialiser_) return;
  shmem::fail(call,
              "by another thread than the one that initialised, which is all that the thread level "
              "allows; ask shmem_init_thread for SHMEM_THREAD_MULTIPLE");
}

void Lifetime::fail_outside(const char* call) {
  if (is_child_) {
    base::log(
        "{} in a child of this PE: the process that called shmem_init is alone in the job; "
        "call it there",
        call);
    ::_exit(1);
  }
  bool before = owned_ == nullptr;
  fail(before ? fmt::format("{} before shmem_init; call shmem_init first{}", call, place_of_call())
              : fmt::format("{} after shmem_finalize{}", call, place_of_call()));
}

void Lifetime::fail(std::string_view sentence) {
  if (owned_ == nullptr) {
    auto world = JobWorld::connect(place_of_call);
    if (world) owned_ = std::move(world).value();
  }
  if (owned_ != nullptr) owned_->fail(sentence);
  base::log("{}", sentence);
  ::_exit(1);
}

}  // namespace terrane::frontend::shmem
