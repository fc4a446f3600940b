#include "platform/fault_signal.h"

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <span>
#include <utility>

#include "platform/crash_signals.h"
#include "platform/fault_context.h"
#include "platform/guarded_copy.h"
#include "platform/libc_signals.h"
#include "platform/loop_probe.h"
#include "platform/program_signals.h"
#include "platform/signal_text.h"
#include "platform/trap_signal.h"
#include "platform/view_rights.h"
#include "platform/wake_signal.h"

namespace terrane::platform {
namespace {

// One watched part of a mapping. `app` is published last and withdrawn first; 0 means free.
struct Route {
  std::atomic<std::uintptr_t> app{0};  // where the part begins, in either view
  std::uintptr_t runtime = 0;
  const DualMapping* mapping = nullptr;
  std::uint64_t offset = 0;  // ... and in the mapping
  std::uint64_t bytes = 0;
  FaultSignal signal = FaultSignal::kBus;
  FaultHandler handler = nullptr;
  void* context = nullptr;
  SealedPages* seals = nullptr;
};

// A signal handler has no argument of ours to find its state by: this table and the two chains are
// the global state that the operating system forces on us.
constexpr int kMaxRoutes = 2100;  // one for each pane and some
Route routes[kMaxRoutes];
std::atomic<int> routes_end{0};  // none was ever open from here on
std::mutex routes_mutex;         // of open and close; the handler takes no lock
// Where application views were that have gone: from the first byte to behind the last.
std::atomic<std::uintptr_t> gone_begin{~std::uintptr_t{0}};
std::atomic<std::uintptr_t> gone_end{0};
SignalChain sigbus(SIGBUS);
SignalChain sigsegv(SIGSEGV);

// Whether this thread is inside a FaultHandler. Initial-exec: a lazily allocated thread-local may
// not be first touched in a signal handler.
thread_local bool in_handler __attribute__((tls_model("initial-exec"))) = false;

thread_local std::uintptr_t faulting_at __attribute__((tls_model("initial-exec"))) = 0;

enum class Place { kApplication, kRuntime, kElsewhere };

struct Found {
  Place place = Place::kElsewhere;
  const Route* route = nullptr;
  std::uint64_t offset = 0;
};

Found find(std::uintptr_t address) {
  int most = routes_end.load(std::memory_order_acquire);
  for (const Route& route : std::span(routes, static_cast<std::size_t>(most))) {
    std::uintptr_t app = route.app.load(std::memory_order_acquire);
    if (app == 0) continue;
    // A stretch that lies elsewhere, as a pane, is not to be seen in the view.
    if (address - app < route.bytes &&
        route.mapping->offset_of(reinterpret_cast<const void*>(address), 1))
      return {Place::kApplication, &route, address - app + route.offset};
    if (address - route.runtime < route.bytes)
      return {Place::kRuntime, &route, address - route.runtime + route.offset};
  }
  return {};
}

// A page of the memfd could not be had: the runtime's view always tells that by SIGBUS, the
// application view where SIGBUS is not how it reports faults.
bool memory_is_short(const Found& found) {
  return found.place == Place::kRuntime || found.route->signal == FaultSignal::kSegv;
}

enum class Why { kForbidden, kNoMemory, kNested, kFreed, kGuard, kNeverAllocated };

void explain(const Found& found, Why why, std::uintptr_t address) {
  SignalText text;
  if (why == Why::kForbidden) {
    text.add("terrane: invalid access at ").add_hex(address);
    text.add(": the program has forbidden it by mprotect\n");
  } else if (why == Why::kNoMemory) {
    text.add("terrane: out of memory: the machine has no page left for shared memory (offset ");
    text.add_hex(found.offset).add(" of the space)\n");
  } else if (why == Why::kNested) {
    text.add("terrane: internal error: the fault handler touched the application view at ");
    text.add_hex(address).add("\n");
  } else if (why == Why::kGuard) {
    text.add("terrane: stack overflow at ").add_hex(address);
    text.add(": raise 'ulimit -s', or give the thread more by pthread_attr_setstacksize\n");
  } else {
    text.add("terrane: invalid access at ").add_hex(address);
    text.add(why == Why::kFreed ? ": in shared memory that was freed\n"
                                : ": in the shared space, but in no allocation (an index out of "
                                  "bounds?)\n");
  }
  text.write_to_stderr();
}

// A child of fork has neither view (rule 13), so an access finds nothing mapped there.
void explain_child(std::uintptr_t address) {
  SignalText text;
  text.add("terrane: access to shared memory at ").add_hex(address);
  text.add(" in a child process: only the process that joined the job has it\n");
  text.write_to_stderr();
}

// An access outside of shared memory, of which the process dies. Addresses near 0 are the business
// of those that look for a null pointer.
void explain_elsewhere(std::uintptr_t address) {
  constexpr std::uintptr_t kNearNull = 1 << 20;
  SignalText text;
  if (address - gone_begin.load(std::memory_order_acquire) <
      gone_end.load(std::memory_order_acquire) - gone_begin.load(std::memory_order_acquire)) {
    text.add("terrane: invalid access at ").add_hex(address);
    text.add(": shared memory was used after terrane_finalize\n");
  } else if (address >= kNearNull) {
    text.add("terrane: invalid access at ").add_hex(address);
    text.add(
        ", where this node has no memory; a pointer in shared memory to a function, a virtual "
        "table, a thread-local variable or other private memory is good on the node alone that "
        "stored it\n");
  }
  text.write_to_stderr();
}

// An access of guarded_copy() that nothing resolves ends there. Comes back if it was not one.
void leave_guarded_copy(std::uintptr_t address, void* context, int saved_errno) {
  if (in_handler || !is_guarded(address)) return;
  libc_signals().set_mask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
  errno = saved_errno;
  fail_guarded_copy();
}

// Whether the program has forbidden the access by mprotect: sources of SIGBUS forbid none but that
// to a sealed page.
bool is_forbidden(const Found& found, Access wanted) {
  if (found.route->signal == FaultSignal::kSegv) return false;
  return found.route->seals == nullptr || !found.route->seals->permits(found.offset, wanted);
}

// kRetry: the access was one that the view's source resolves, and it is resolved now.
FaultVerdict resolve(const Found& found, FaultSignal signal, const ucontext_t& context) {
  if (found.place != Place::kApplication || in_handler) return FaultVerdict::kForeign;
  bool fetches = fetches_instruction(context);
  Access wanted = fetches ? Access::kRead : faulting_access(context);
  if (signal != found.route->signal && (signal == FaultSignal::kBus || is_forbidden(found, wanted)))
    return FaultVerdict::kForeign;
  // With a source that works by rights it would never end.
  if (fetches && signal == FaultSignal::kSegv && !views_are_executable())
    return FaultVerdict::kForeign;
  in_handler = true;
#if defined(__x86_64__)
  faulting_at = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#endif
  FaultVerdict verdict = found.route->handler(found.route->context, found.offset, wanted);
  in_handler = false;
  return verdict;
}

Why reason(FaultVerdict verdict, bool nested) {
  if (nested) return Why::kNested;
  if (verdict == FaultVerdict::kGuard) return Why::kGuard;
  return verdict == FaultVerdict::kFreed ? Why::kFreed : Why::kNeverAllocated;
}

void pass_on(SignalChain& chain, int signal_number, siginfo_t* info, void* context) {
  if (!chain.program_handles()) report_crash(signal_number, info, context);
  chain.pass_on(info, context);
}

// To a program all of whose memory is shared, what is in no allocation is not mapped.
void pass_on_as_unmapped(const siginfo_t& info, void* context) {
  siginfo_t unmapped = info;
  unmapped.si_signo = SIGSEGV;
  unmapped.si_code = SEGV_MAPERR;
  bool is_deadly = !sigsegv.program_handles();
  pass_on(sigsegv, SIGSEGV, &unmapped, context);
  if (is_deadly) raise(SIGSEGV);
}

void on_sigbus(int, siginfo_t* info, void* raw_context) {
  if (is_wake(*info) || begin_probe(*info, raw_context)) return;
  int saved_errno = errno;
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  bool resolved = false, is_unmapped = false;
  if (info->si_code == BUS_ADRERR) {
    Found found = find(address);
    bool nested = in_handler;
    auto verdict = resolve(found, FaultSignal::kBus, *static_cast<const ucontext_t*>(raw_context));
    resolved = verdict == FaultVerdict::kRetry;
    if (!resolved && found.place != Place::kElsewhere) {
      leave_guarded_copy(address, raw_context, saved_errno);
      Why why = memory_is_short(found) ? Why::kNoMemory : reason(verdict, nested);
      explain(found, why, address);
      is_unmapped = why != Why::kNoMemory && why != Why::kNested && reports_crashes();
    }
  }
  if (is_unmapped) {
    pass_on_as_unmapped(*info, raw_context);
  } else if (!resolved) {
    pass_on(sigbus, SIGBUS, info, raw_context);
  }
  errno = saved_errno;
}

void on_sigsegv(int, siginfo_t* info, void* raw_context) {
  int saved_errno = errno;
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  bool resolved = false;
  if (info->si_code == SEGV_ACCERR || info->si_code == SEGV_MAPERR) {
    Found found = find(address);
    bool nested = in_handler;
    if (found.place != Place::kElsewhere && info->si_code == SEGV_MAPERR) {
      explain_child(address);
    } else if (found.place == Place::kApplication) {
      auto verdict =
          resolve(found, FaultSignal::kSegv, *static_cast<const ucontext_t*>(raw_context));
      resolved = verdict == FaultVerdict::kRetry;
      if (!resolved) {
        leave_guarded_copy(address, raw_context, saved_errno);
        Access wanted = faulting_access(*static_cast<const ucontext_t*>(raw_context));
        bool rights = !nested && is_forbidden(found, wanted);
        explain(found, rights ? Why::kForbidden : reason(verdict, nested), address);
      }
    } else if (info->si_code == SEGV_MAPERR && !sigsegv.program_handles()) {
      explain_elsewhere(address);
    }
  }
  if (!resolved) pass_on(sigsegv, SIGSEGV, info, raw_context);
  errno = saved_errno;
}

}  // namespace

base::Result<FaultRoute> FaultRoute::open(const DualMapping& mapping, Span part, FaultSignal signal,
                                          FaultHandler handler, void* context, SealedPages* seals) {
  std::lock_guard lock(routes_mutex);
  if (auto done = sigbus.install(on_sigbus); !done) return done.error();
  if (auto done = sigsegv.install(on_sigsegv); !done) return done.error();
  open_fault_signals();
  for (int slot = 0; slot < kMaxRoutes; ++slot) {
    Route& route = routes[slot];
    if (route.app.load(std::memory_order_relaxed) != 0) continue;
    route.runtime = reinterpret_cast<std::uintptr_t>(mapping.runtime()) + part.offset;
    route.mapping = &mapping;
    route.offset = part.offset;
    route.bytes = part.bytes;
    route.signal = signal;
    route.handler = handler;
    route.context = context;
    route.seals = seals;
    route.app.store(reinterpret_cast<std::uintptr_t>(mapping.app_at(part.offset)),
                    std::memory_order_release);
    if (slot >= routes_end.load(std::memory_order_relaxed))
      routes_end.store(slot + 1, std::memory_order_release);
    FaultRoute opened;
    opened.slot_ = slot;
    return opened;
  }
  return base::error("more than {} shared spaces in one process", kMaxRoutes);
}

bool is_in_fault_handler() { return in_handler; }
std::uintptr_t faulting_code() { return faulting_at; }

int restore_fault_handlers() {
  bool bus = sigbus.restore(), segv = sigsegv.restore();
  return bus ? SIGBUS : segv ? SIGSEGV : 0;
}

SignalChain* chain_of(int signal_number) {
  if (signal_number == SIGTRAP) return trap_chain();
  SignalChain* chain = signal_number == SIGBUS    ? &sigbus
                       : signal_number == SIGSEGV ? &sigsegv
                                                  : nullptr;
  return chain != nullptr && chain->installed() ? chain : nullptr;
}

FaultRoute::FaultRoute(FaultRoute&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

FaultRoute& FaultRoute::operator=(FaultRoute&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

FaultRoute::~FaultRoute() {
  if (slot_ < 0) return;
  std::lock_guard lock(routes_mutex);
  Route& route = routes[slot_];
  std::uintptr_t app = route.app.load(std::memory_order_relaxed);
  gone_begin.store(std::min(gone_begin.load(), app), std::memory_order_release);
  gone_end.store(std::max(gone_end.load(), app + route.bytes), std::memory_order_release);
  route.app.store(0, std::memory_order_release);
}

}  // namespace terrane::platform
