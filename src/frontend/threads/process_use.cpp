// Processor time of the whole program, and what else getrusage(2) counts.
#include "frontend/interpose/process_use.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include "frontend/interpose/next.h"
#include "frontend/threads/process_signals.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"

namespace terrane::frontend::threads {
namespace {

constexpr long kSecondNs = 1'000'000'000, kSecondUs = 1'000'000;

void add(timeval& sum, const timeval& part) {
  sum.tv_usec += part.tv_usec;
  sum.tv_sec += part.tv_sec + sum.tv_usec / kSecondUs;
  sum.tv_usec %= kSecondUs;
}

void add(timespec& sum, const timespec& part) {
  sum.tv_nsec += part.tv_nsec;
  sum.tv_sec += part.tv_sec + sum.tv_nsec / kSecondNs;
  sum.tv_nsec %= kSecondNs;
}

void add(rusage& sum, const rusage& part) {
  add(sum.ru_utime, part.ru_utime);
  add(sum.ru_stime, part.ru_stime);
  sum.ru_minflt += part.ru_minflt;
  sum.ru_majflt += part.ru_majflt;
  sum.ru_inblock += part.ru_inblock;
  sum.ru_oublock += part.ru_oublock;
  sum.ru_nvcsw += part.ru_nvcsw;
  sum.ru_nivcsw += part.ru_nivcsw;
}

void* tell_use(void* raw) {
  Used own;
  next<"getrusage">(::getrusage)(RUSAGE_SELF, &own.self);
  next<"getrusage">(::getrusage)(RUSAGE_CHILDREN, &own.children);
  next<"clock_gettime">(::clock_gettime)(CLOCK_PROCESS_CPUTIME_ID, &own.processor);
  *static_cast<Used*>(raw) = own;
  return nullptr;
}

class Uses final : public ProcessUse {
 public:
  Uses(std::uint32_t self, std::uint32_t nodes) : self_(self), nodes_(nodes) { set(this); }

  void add_others(Used& used) override {
    if (!concerns_all_nodes()) return;
    runtime::Heap& heap = Program::get()->heap();
    auto* told = static_cast<Used*>(heap.allocate(sizeof(Used)));
    for (std::uint32_t n = 0; told != nullptr && n < nodes_; ++n) {
      if (n == self_ || run_on(n, tell_use, told) != 0) continue;
      add(used.self, told->self);
      add(used.children, told->children);
      add(used.processor, told->processor);
      // Each node has pages of its own; of the children, the largest counts.
      used.self.ru_maxrss += told->self.ru_maxrss;
      used.children.ru_maxrss = std::max(used.children.ru_maxrss, told->children.ru_maxrss);
    }
    heap.free(told);
  }

 private:
  const std::uint32_t self_, nodes_;
};

}  // namespace

void share_use(const Program& program) {
  std::uint32_t nodes = program.node().nodes();
  if (nodes == 1) return;
  static auto* uses = new Uses(program.self(), nodes);
  static_cast<void>(uses);
}

}  // namespace terrane::frontend::threads

#pragma GCC visibility push(default)
extern "C" {

clock_t clock(void) noexcept {
  timespec time{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return -1;
  return time.tv_sec * CLOCKS_PER_SEC + time.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

int clock_getcpuclockid(pid_t process, clockid_t* clock) noexcept {
  using namespace terrane::frontend;
  bool own =
      threads::concerns_all_nodes() && (process == 0 || threads::is_programs_process(process));
  if (!own) return next<"clock_getcpuclockid">(::clock_getcpuclockid)(process, clock);
  *clock = CLOCK_PROCESS_CPUTIME_ID;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
