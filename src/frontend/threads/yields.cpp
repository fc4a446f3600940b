// A thread that gives its processor away again and again waits for something. Where that is plain
// memory which another node writes, its page is served (polling.h); --patience says so where
// atomics are not.
#include <sched.h>
#include <time.h>

#include <cstdint>

#include "frontend/interpose/next.h"
#include "frontend/interpose/sleeping.h"
#include "frontend/threads/polling.h"
#include "frontend/threads/program.h"
#include "platform/wait.h"

namespace terrane::frontend::threads {
namespace {

// A thread that computes for longer between two calls does not only wait.
constexpr std::uint64_t kInARowNs = 1'000'000;

std::uint64_t computed_ns() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Calls in a row: since when, and what the thread had computed at the last one.
struct Row {
  std::uint64_t since_ns, computed_ns;
  bool has_said;
};
thread_local constinit Row row = {};

void note_yield(std::uintptr_t caller) {
  std::uint64_t now = platform::now_ns();
  std::uint64_t computed = computed_ns();
  bool begins = row.since_ns == 0 || computed - row.computed_ns > kInARowNs;
  if (begins) row = {now, computed, false};
  row.computed_ns = computed;
  if (row.has_said || now - row.since_ns < patience_ns()) return;
  row.has_said = true;
  runtime::on_own_stack([now, caller] {
    Private ours;
    report_polling(*this_thread().record, "called sched_yield", now - row.since_ns, caller - 1);
    return 0;
  });
}

}  // namespace
}  // namespace terrane::frontend::threads

#pragma GCC visibility push(default)
extern "C" {

int sched_yield() noexcept {
  using namespace terrane::frontend;
  bool counts = threads::Program::get() != nullptr && threads::is_in_program();
  if (counts && threads::patience_ns() != 0)
    threads::note_yield(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  return terrane::frontend::slept(next<"sched_yield">(::sched_yield)());
}

}  // extern "C"
#pragma GCC visibility pop
