// A thread that gives its processor away again and again waits for something. Where that is plain
// memory which another node writes, it waits for ever: --patience says so.
#include <sched.h>
#include <time.h>

#include <cstdlib>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"
#include "platform/wait.h"

namespace terrane::frontend::threads {
namespace {

// A thread that computes for longer between two calls does not only wait.
constexpr std::uint64_t kInARowNs = 1'000'000;

// 0: nobody wants to know.
std::uint64_t patience_ns() {
  static const std::uint64_t patience = [] {
    const char* text = std::getenv("TERRANE_PATIENCE");
    double seconds = text == nullptr ? 0 : std::strtod(text, nullptr);
    return seconds > 0 ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
  }();
  return patience;
}

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

void note_yield() {
  std::uint64_t now = platform::now_ns();
  std::uint64_t computed = computed_ns();
  if (computed - row.computed_ns > kInARowNs) row = {now, computed, false};
  row.computed_ns = computed;
  if (row.has_said || now - row.since_ns < patience_ns()) return;
  row.has_said = true;
  runtime::on_own_stack([now] {
    Private ours;
    base::log(
        "thread {} has called sched_yield again and again for {:.3g} s: if its loop polls plain "
        "memory, it does not see what other nodes write; put a flush, a lock or an atomic "
        "operation "
        "with an order into the loop, and behind the write that it waits for",
        this_thread().record - Program::get()->control().records,
        static_cast<double>(now - row.since_ns) * 1e-9);
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
  if (counts && threads::patience_ns() != 0) threads::note_yield();
  return next<"sched_yield">(::sched_yield)();
}

}  // extern "C"
#pragma GCC visibility pop
