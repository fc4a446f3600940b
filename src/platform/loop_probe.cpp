#include "platform/loop_probe.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "base/own_process.h"
#include "platform/crash_signals.h"
#include "platform/libc_signals.h"
#include "platform/trap_signal.h"
#include "platform/wait.h"

namespace terrane::platform {

#if defined(__x86_64__)

namespace {

constexpr std::uint32_t kProbeRounds = 4;     // of which the last ones are compared
constexpr std::uint32_t kMostSteps = 2000;    // until a state comes again
constexpr std::uint32_t kMostBeginnings = 2;  // states that are waited for
constexpr std::uint32_t kMostInAll = 2 * kMostSteps;
constexpr std::uint32_t kLeastSteps = 500;      // whatever time they take
constexpr std::uint32_t kMostCalls = 4;         // of the kernel: each may give the processor away
constexpr std::uint32_t kMostElsewhere = 1500;  // in a row, of libraries that the loop calls
constexpr std::uintptr_t kEndOfPrograms = std::uintptr_t{1} << 47;
constexpr std::size_t kMostBytes = 15;  // of an instruction
constexpr std::uintptr_t kCodePage = 4096;
constexpr greg_t kTrap = 0x100, kResume = 0x10000;  // of the flags: not the program's

enum ProbeState : std::uint32_t { kNone, kOffered, kAsked, kSteps, kOver };

char probe_mark;  // its address is what the signal carries
std::atomic<ProbeState> probe_state{kNone};
// Counts probes. That of the calling thread, which is looked at; 0: it is not.
std::uint32_t last_probe = 0;
thread_local std::uint32_t own_probe __attribute__((tls_model("initial-exec"))) = 0;
// A handler of the program keeps a context, which may stop once more when its probe has been over
// for long.
thread_local bool has_been_probed __attribute__((tls_model("initial-exec"))) = false;

// Of the probe that is running: its thread alone touches it.
struct Steps {
  IsOwnCode is_own;
  IsCalled is_called;  // nullptr: it is the thread's own wish
  std::atomic<pid_t> thread;
  std::atomic<std::uint32_t> number;
  std::uint64_t since_ns, longest_ns;
  std::uint64_t until_ns;  // of the thread's processor time
  bool had_closed_trap, has_pushed_flags;
  bool may_poll;  // no instruction so far excludes that
  std::uint64_t beginning, trail, last_trail;
  std::uintptr_t at;
  std::uint32_t in_all, calls, elsewhere, steps, rounds, beginnings;
  bool polls, is_whole;
} the_probe;

// A thread that has slept begins by itself.
bool is_own_wish() { return the_probe.is_called == nullptr; }

// The program's instructions, and where the latest round begins among them.
constexpr std::size_t kRegisters = REG_RIP + 1;
LoopStep loop_steps[kMostInAll];
greg_t loop_registers[kMostInAll][kRegisters];
std::size_t loop_count = 0, round_begins = 0;

void note_step(const ucontext_t& context) {
  if (loop_count == kMostInAll) return;
  greg_t* kept = loop_registers[loop_count];
  std::memcpy(kept, context.uc_mcontext.gregs, sizeof loop_registers[0]);
  loop_steps[loop_count++] = {static_cast<std::uintptr_t>(kept[REG_RIP]),
                              static_cast<std::uintptr_t>(kept[REG_RSP]), kept};
}

std::uint64_t mixed(std::uint64_t all, std::uint64_t next) {
  all = (all ^ next) * 0x9e3779b97f4a7c15u;
  return all ^ all >> 29;
}

// All registers that instructions of the program compute with.
std::uint64_t registers(const ucontext_t& context) {
  const auto& machine = context.uc_mcontext;
  std::uint64_t all = static_cast<std::uint64_t>(machine.gregs[REG_EFL] & ~(kTrap | kResume));
  for (int i = REG_R8; i <= REG_RIP; ++i)
    all = mixed(all, static_cast<std::uint64_t>(machine.gregs[i]));
  if (machine.fpregs == nullptr) return all;
  std::uint64_t words[2];
  for (const auto& one : machine.fpregs->_st) {
    std::memcpy(words, &one, sizeof words);
    all = mixed(mixed(all, words[0]), words[1]);
  }
  for (const auto& one : machine.fpregs->_xmm) {
    std::memcpy(words, &one, sizeof words);
    all = mixed(mixed(all, words[0]), words[1]);
  }
  return all;
}

std::uintptr_t next_instruction(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

// Handlers of this folder run there, that of served traps among them.
bool is_on_signal_stack(const ucontext_t& context) {
  auto begin = reinterpret_cast<std::uintptr_t>(context.uc_stack.ss_sp);
  auto now = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  return now - begin < context.uc_stack.ss_size;
}

std::uint64_t own_processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// A step takes 2 us, and in some virtual machines 16.
bool is_late() {
  constexpr std::uint32_t kStepsALook = 16;
  return the_probe.in_all >= kLeastSteps && the_probe.in_all % kStepsALook == 0 &&
         own_processor_ns() >= the_probe.until_ns;
}

struct Code {
  std::uint8_t bytes[kMostBytes + 1] = {};
};
Code code_at(std::uintptr_t at) {
  Code code;
  std::uintptr_t in_page = kCodePage - at % kCodePage;
  std::memcpy(code.bytes, reinterpret_cast<const void*>(at),
              in_page < kMostBytes ? in_page : kMostBytes);
  return code;
}

void begin_rounds(std::uint64_t now, std::uintptr_t at) {
  the_probe.beginning = now;
  the_probe.at = at;
  the_probe.trail = the_probe.rounds = the_probe.steps = 0;
  round_begins = loop_count;
  ++the_probe.beginnings;
}

// Whether the same state has come again by the same way often enough. Before the step is noted.
bool comes_again(const ucontext_t& context) {
  std::uint64_t now = registers(context);
  if (the_probe.beginnings == 0) {
    begin_rounds(now, next_instruction(context));
    return false;
  }
  the_probe.trail = mixed(the_probe.trail, now);
  if (now == the_probe.beginning) {
    bool is_same = the_probe.rounds != 0 && the_probe.trail == the_probe.last_trail;
    the_probe.last_trail = the_probe.trail;
    the_probe.rounds = is_same ? the_probe.rounds + 1 : 1;
    the_probe.trail = the_probe.steps = 0;
    if (the_probe.rounds == kProbeRounds) return true;
    round_begins = loop_count;
  } else if (++the_probe.steps == kMostSteps) {
    the_probe.may_poll = the_probe.beginnings < kMostBeginnings;
    if (the_probe.may_poll) begin_rounds(now, next_instruction(context));
  }
  return false;
}

// Calls that change nothing of the thread, and do not wait for long.
bool is_harmless(greg_t call) {
  constexpr greg_t kHarmless[] = {SYS_sched_yield, SYS_clock_gettime, SYS_gettimeofday,
                                  SYS_time,        SYS_getcpu,        SYS_gettid};
  for (greg_t one : kHarmless)
    if (call == one) return true;
  return false;
}

// The flags on the stack keep what makes the thread stop, or lack it: neither is to come to the
// program.
void put_trap_flag(const ucontext_t& context, bool is_set) {
  std::uint16_t flags;
  auto* top = reinterpret_cast<void*>(context.uc_mcontext.gregs[REG_RSP]);
  std::memcpy(&flags, top, sizeof flags);
  flags = static_cast<std::uint16_t>(is_set ? flags | kTrap : flags & ~kTrap);
  std::memcpy(top, &flags, sizeof flags);
}

bool may_step(StepKind kind, const ucontext_t& context) {
  if (kind == StepKind::kTraps) return is_served_trap(next_instruction(context));
  return kind != StepKind::kCallsKernel || is_harmless(context.uc_mcontext.gregs[REG_RAX]);
}

// False: the probe is over.
bool take_step(const ucontext_t& context) {
  std::uintptr_t at = next_instruction(context);
  if (std::exchange(the_probe.has_pushed_flags, false)) put_trap_flag(context, false);
  if (at >= kEndOfPrograms) return false;
  Code code = code_at(at);
  StepKind kind = step_kind(code.bytes);
  bool goes_on = may_step(kind, context);
  if (kind == StepKind::kCallsKernel) ++the_probe.calls;
  std::uint32_t most = the_probe.may_poll ? kMostInAll : kMostSteps;
  bool is_full = ++the_probe.in_all >= most || the_probe.calls >= kMostCalls || is_late();
  // A thread that has slept looks until it sleeps again, or does other things at length.
  the_probe.is_whole = is_full || (!goes_on && is_own_wish());
  if (!goes_on || is_full) return false;
  the_probe.has_pushed_flags = kind == StepKind::kPushesFlags;
  if (kind == StepKind::kPopsFlags) put_trap_flag(context, true);
  if (!the_probe.is_own(at)) {
    the_probe.may_poll = false;
    bool is_long = ++the_probe.elsewhere == kMostElsewhere;
    the_probe.is_whole = is_long && is_own_wish();
    return !is_long;
  }
  the_probe.elsewhere = 0;
  the_probe.may_poll = the_probe.may_poll && may_go_on(code.bytes);
  the_probe.polls = the_probe.may_poll && comes_again(context);
  if (the_probe.polls) return false;
  note_step(context);
  return true;
}

void end_probe(ucontext_t& context) {
  context.uc_mcontext.gregs[REG_EFL] &= ~kTrap;
  if (the_probe.had_closed_trap) sigaddset(&context.uc_sigmask, SIGTRAP);
  own_probe = 0;
  probe_state.store(kOver, std::memory_order_release);
}

void on_trap(int signal_number, siginfo_t* info, void* raw) {
  if (step_probe(*info, raw)) return;
  // A breakpoint of the program: it dies of that, as it would without us.
  report_crash(signal_number, info, raw);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  libc_signals().sigaction(signal_number, &action, nullptr);
  raise(signal_number);
}

// Not by a stream: the program may change the locale of all streams.
bool is_traced() {
  int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char text[1024] = {};
  ssize_t got = ::read(file, text, sizeof text - 1);
  ::close(file);
  return got <= 0 || std::strstr(text, "\nTracerPid:\t0\n") == nullptr;
}

// The program's handler of SIGTRAP, or a debugger's, is not taken away.
bool take_traps(struct sigaction& before) {
  if (serves_traps()) return !is_traced();  // its handler calls step_probe()
  if (libc_signals().sigaction(SIGTRAP, nullptr, &before) != 0) return false;
  struct sigaction seen = before;
  hide_crash_handler(seen);
  if ((seen.sa_flags & SA_SIGINFO) != 0 || seen.sa_handler != SIG_DFL || is_traced()) return false;
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGBUS);
  sigdelset(&action.sa_mask, SIGSEGV);
  return libc_signals().sigaction(SIGTRAP, &action, nullptr) == 0;
}

void give_traps(const struct sigaction& before) {
  struct sigaction now {};
  libc_signals().sigaction(SIGTRAP, nullptr, &now);
  bool is_ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_trap;
  if (is_ours) libc_signals().sigaction(SIGTRAP, &before, nullptr);
}

bool send_probe(pid_t thread) {
  siginfo_t info{};
  info.si_signo = SIGBUS;
  info.si_code = SI_QUEUE;
  info.si_pid = base::own_process();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = &probe_mark;
  return ::syscall(SYS_rt_tgsigqueueinfo, base::own_process(), thread, SIGBUS, &info) == 0;
}

// False: the thread has not got there; it may do so later.
bool await_end() {
  constexpr int kMostLooks = 20'000;
  constexpr timespec kLook{0, 500'000};
  for (int i = 0; i < kMostLooks; ++i) {
    if (probe_state.load(std::memory_order_acquire) == kOver) return true;
    ::nanosleep(&kLook, nullptr);
  }
  return false;
}

// A handler of the program may have left the look for good: after so long nobody waits for it.
bool is_free() {
  constexpr std::uint64_t kLongestNs = 10'000'000'000;
  if (probe_state.load() == kNone) return true;
  if (now_ns() - the_probe.since_ns < kLongestNs) return false;
  the_probe.number.store(++last_probe);
  probe_state.store(kNone);
  return true;
}

void prepare(std::uint64_t longest_ns, IsOwnCode is_own, IsCalled is_called) {
  the_probe.longest_ns = longest_ns;
  the_probe.is_own = is_own;
  the_probe.is_called = is_called;
  the_probe.thread = 0;
  the_probe.number = ++last_probe;
  the_probe.since_ns = now_ns();
  the_probe.may_poll = true;
  the_probe.polls = the_probe.is_whole = false;
  the_probe.has_pushed_flags = false;
  the_probe.in_all = the_probe.calls = the_probe.elsewhere = the_probe.steps = the_probe.rounds =
      the_probe.beginnings = 0;
  the_probe.at = 0;
  loop_count = round_begins = 0;
}

LoopReport report() {
  std::size_t first = the_probe.polls ? round_begins : 0;
  return {the_probe.polls,
          the_probe.at,
          {loop_steps + first, loop_count - first},
          the_probe.polls || the_probe.is_whole,
          the_probe.thread};
}

}  // namespace

LoopReport probe_loop(pid_t thread, std::uint64_t longest_ns, IsOwnCode is_own,
                      IsCalled is_called) {
  struct sigaction before {};
  if (!is_free() || !take_traps(before)) return {};
  prepare(longest_ns, is_own, is_called);
  the_probe.thread = thread;
  probe_state.store(kAsked, std::memory_order_release);
  bool is_over = !send_probe(thread) || await_end();
  // One that has not got there does not begin any more.
  ProbeState asked = kAsked;
  if (!is_over && !probe_state.compare_exchange_strong(asked, kOver)) return {};
  probe_state.store(kNone);
  give_traps(before);
  return report();
}

void offer_probe(std::uint64_t longest_ns, IsOwnCode is_own) {
  if (!is_free() || !serves_traps() || is_traced()) return;
  prepare(longest_ns, is_own, nullptr);
  probe_state.store(kOffered, std::memory_order_release);
}

bool begin_offered_probe() {
  ProbeState offered = kOffered;
  if (probe_state.load(std::memory_order_relaxed) != kOffered ||
      !probe_state.compare_exchange_strong(offered, kAsked))
    return false;
  auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  the_probe.thread = self;
  if (!send_probe(self)) probe_state.store(kOver);
  return true;
}

LoopReport take_offered_probe() {
  ProbeState seen = probe_state.load(std::memory_order_acquire);
  if (seen == kOffered) probe_state.compare_exchange_strong(seen, kNone);
  if (seen != kOver || !is_own_wish()) return {};
  LoopReport found = report();
  probe_state.store(kNone);
  return found;
}

bool step_probe(const siginfo_t& info, void* raw) {
  // A trap of one byte (SI_KERNEL) is one that leads to a trampoline, where the probe goes on, or
  // that of a handler of the program, which has interrupted the probe. A step is TRAP_TRACE, but
  // not always in a virtual machine.
  auto& context = *static_cast<ucontext_t*>(raw);
  bool is_sent = info.si_code <= 0, is_one_byte = info.si_code == SI_KERNEL;
  bool stops_behind_each = (context.uc_mcontext.gregs[REG_EFL] & kTrap) != 0;
  bool is_step = info.si_code == TRAP_TRACE || (stops_behind_each && !is_sent && !is_one_byte);
  if (!has_been_probed || !is_step) return false;
  if (own_probe == 0 || own_probe != the_probe.number.load()) {
    context.uc_mcontext.gregs[REG_EFL] &= ~kTrap;
    own_probe = 0;
  } else if (!take_step(context)) {
    end_probe(context);
  }
  return true;
}

bool begin_probe(const siginfo_t& info, void* raw) {
  bool is_ours = info.si_signo == SIGBUS && info.si_code == SI_QUEUE &&
                 info.si_pid == base::own_process() && info.si_value.sival_ptr == &probe_mark;
  if (!is_ours) return false;
  auto& context = *static_cast<ucontext_t*>(raw);
  ProbeState asked = kAsked;
  if (the_probe.thread != ::syscall(SYS_gettid) ||
      !probe_state.compare_exchange_strong(asked, kSteps))
    return true;
  // Not in a handler of ours, which would be looked at itself; a thread that has slept is in none.
  IsCalled is_called = the_probe.is_called;
  bool is_here = is_called == nullptr || the_probe.is_own(next_instruction(context)) ||
                 (!is_on_signal_stack(context) && is_called());
  if (!is_here) the_probe.thread = 0;
  the_probe.until_ns = own_processor_ns() + the_probe.longest_ns;
  if (!is_here || !take_step(context)) {
    probe_state.store(kOver, std::memory_order_release);
    return true;
  }
  the_probe.had_closed_trap = sigismember(&context.uc_sigmask, SIGTRAP) == 1;
  sigdelset(&context.uc_sigmask, SIGTRAP);
  context.uc_mcontext.gregs[REG_EFL] |= kTrap;
  own_probe = the_probe.number;
  has_been_probed = true;
  return true;
}

#else

LoopReport probe_loop(pid_t, std::uint64_t, IsOwnCode, IsCalled) { return {}; }
void offer_probe(std::uint64_t, IsOwnCode) {}
bool begin_offered_probe() { return false; }
LoopReport take_offered_probe() { return {}; }
bool begin_probe(const siginfo_t&, void*) { return false; }
bool step_probe(const siginfo_t&, void*) { return false; }

#endif

}  // namespace terrane::platform
