#include "platform/loop_probe.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "base/own_process.h"
#include "platform/crash_signals.h"
#include "platform/libc_signals.h"
#include "platform/trap_signal.h"

namespace terrane::platform {

#if defined(__x86_64__)

namespace {

constexpr std::uint32_t kProbeRounds = 4;     // of which the last ones are compared
constexpr std::uint32_t kMostSteps = 2000;    // until a state comes again
constexpr std::uint32_t kMostBeginnings = 2;  // states that are waited for
constexpr std::size_t kMostBytes = 15;        // of an instruction
constexpr std::uintptr_t kCodePage = 4096;
constexpr greg_t kTrap = 0x100, kResume = 0x10000;  // of the flags: not the program's

enum ProbeState : std::uint32_t { kNone, kAsked, kSteps, kOver };

char probe_mark;  // its address is what the signal carries
std::atomic<ProbeState> probe_state{kNone};
thread_local bool is_stepping __attribute__((tls_model("initial-exec"))) = false;

// Of the probe that is running: its thread alone touches it.
struct Steps {
  IsOwnCode is_own;
  pid_t thread;
  bool had_closed_trap;
  std::uint64_t beginning, trail, last_trail;
  std::uintptr_t at;
  std::uint32_t steps, rounds, beginnings;
  bool polls;
} the_probe;

// The instructions of the latest round.
LoopStep loop_steps[kMostLoopSteps];
greg_t loop_registers[kMostLoopSteps][NGREG];
std::size_t loop_count = 0;

void note_step(const ucontext_t& context) {
  if (loop_count == kMostLoopSteps) return;
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

// Whether the next instruction is the program's, and one that a loop may repeat in vain.
bool goes_on(std::uintptr_t at) {
  if (!the_probe.is_own(at)) return false;
  std::uint8_t code[kMostBytes + 1] = {};
  std::uintptr_t in_page = kCodePage - at % kCodePage;
  std::memcpy(code, reinterpret_cast<const void*>(at), in_page < kMostBytes ? in_page : kMostBytes);
  return may_go_on(code);
}

void begin_rounds(std::uint64_t now, std::uintptr_t at) {
  the_probe.beginning = now;
  the_probe.at = at;
  the_probe.trail = the_probe.rounds = the_probe.steps = 0;
  loop_count = 0;
  ++the_probe.beginnings;
}

// False: the probe is over.
bool take_step(const ucontext_t& context) {
  if (!goes_on(next_instruction(context))) return false;
  std::uint64_t now = registers(context);
  if (the_probe.beginnings == 0) {
    begin_rounds(now, next_instruction(context));
    note_step(context);
    return true;
  }
  the_probe.trail = mixed(the_probe.trail, now);
  if (now == the_probe.beginning) {
    bool is_same = the_probe.rounds != 0 && the_probe.trail == the_probe.last_trail;
    the_probe.last_trail = the_probe.trail;
    the_probe.rounds = is_same ? the_probe.rounds + 1 : 1;
    the_probe.trail = the_probe.steps = 0;
    the_probe.polls = the_probe.rounds == kProbeRounds;
    if (the_probe.polls) return false;
    loop_count = 0;
  }
  note_step(context);
  if (now == the_probe.beginning) return true;
  if (++the_probe.steps < kMostSteps) return true;
  if (the_probe.beginnings == kMostBeginnings) return false;
  begin_rounds(now, next_instruction(context));
  return true;
}

void end_probe(ucontext_t& context) {
  context.uc_mcontext.gregs[REG_EFL] &= ~kTrap;
  if (the_probe.had_closed_trap) sigaddset(&context.uc_sigmask, SIGTRAP);
  is_stepping = false;
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

}  // namespace

LoopReport probe_loop(pid_t thread, IsOwnCode is_own) {
  struct sigaction before {};
  if (probe_state.load() != kNone || !take_traps(before)) return {};
  the_probe = {};
  the_probe.is_own = is_own;
  the_probe.thread = thread;
  probe_state.store(kAsked, std::memory_order_release);
  bool is_over = !send_probe(thread) || await_end();
  // One that has not got there does not begin any more.
  ProbeState asked = kAsked;
  if (!is_over && !probe_state.compare_exchange_strong(asked, kOver)) return {};
  probe_state.store(kNone);
  give_traps(before);
  return {the_probe.polls, the_probe.at, {loop_steps, the_probe.polls ? loop_count : 0}};
}

bool step_probe(const siginfo_t& info, void* raw) {
  if (!is_stepping) return false;
  auto& context = *static_cast<ucontext_t*>(raw);
  bool is_step = info.si_code == TRAP_TRACE;
  if (!is_step || !take_step(context)) end_probe(context);
  return is_step;
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
  if (!goes_on(next_instruction(context))) {
    probe_state.store(kOver, std::memory_order_release);
    return true;
  }
  the_probe.had_closed_trap = sigismember(&context.uc_sigmask, SIGTRAP) == 1;
  sigdelset(&context.uc_sigmask, SIGTRAP);
  context.uc_mcontext.gregs[REG_EFL] |= kTrap;
  is_stepping = true;
  return true;
}

#else

LoopReport probe_loop(pid_t, IsOwnCode) { return {}; }
bool begin_probe(const siginfo_t&, void*) { return false; }
bool step_probe(const siginfo_t&, void*) { return false; }

#endif

}  // namespace terrane::platform
