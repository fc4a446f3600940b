// Signals of a program on several nodes: one set of actions, and one process that they are sent to.
#include "frontend/threads/process_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/own_process.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/for_kernel.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/process_signals.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/cancel.h"
#include "frontend/threads/node_call.h"
#include "frontend/threads/signal_offers.h"
#include "frontend/threads/signal_sending.h"
#include "platform/fault_signal.h"
#include "platform/program_handlers.h"
#include "platform/program_signals.h"
#include "platform/wait.h"
#include "platform/wake_signal.h"

namespace terrane::frontend::threads {
namespace {

// A batch system may send a signal to all processes of a job, and to the launcher, which passes it
// on: that is one signal.
constexpr std::uint64_t kEchoNs = 300'000'000;

// What came for the process to this node, by signal; taken by the thread that serves the mail.
struct Relayed {
  std::atomic<int> code{0};
  std::atomic<void*> value{nullptr};
};
std::array<Relayed, NSIG> relayed;
std::atomic<std::uint64_t> relayed_set{0};
std::atomic<pid_t> server{0};

// When the handler of a signal has run last, and whether the launcher had sent that.
struct Latest {
  std::atomic<std::uint64_t> at_ns{0};
  std::atomic<bool> by_launcher{false};
};
std::array<Latest, NSIG> latest;

pid_t the_parent = 0;

std::uint64_t bit_of(int signal_number) { return std::uint64_t{1} << (signal_number - 1); }

// An operation that has ended stores its result from the runtime's stack still.
bool must_wait(std::uintptr_t stack) {
  constexpr std::uintptr_t kMostUsed = 4 << 20;
  const runtime::OwnStack& own = runtime::own_stack();
  auto top = reinterpret_cast<std::uintptr_t>(own.top);
  bool is_below = own.top != nullptr && top - stack < kMostUsed;
  if (is_below && !platform::is_on_signal_stack(reinterpret_cast<const void*>(stack))) return true;
  return own.depth != 0 || own.holds != 0 || platform::is_in_fault_handler();
}

bool ran_just_now(int signal_number) {
  std::uint64_t at = latest[static_cast<std::size_t>(signal_number)].at_ns.load();
  return at != 0 && platform::now_ns() - at < kEchoNs;
}

// The handler is code of the program, whatever it has interrupted. In an operation that waits it
// must not end the thread.
void run(void (*handler)(int, siginfo_t*, void*), int signal_number, siginfo_t* info,
         void* context) {
  if (is_echo(signal_number, *info)) return;
  bool has_sender = info->si_code <= 0 && info->si_code != SI_TIMER;
  if (has_sender && info->si_pid == the_process)
    info->si_pid = Program::get()->control().process.number;
  ThreadState& me = this_thread();
  bool is_in_wait = me.record != nullptr && runtime::own_stack().top == nullptr;
  auto keeps_private = std::exchange(me.keeps_private, 0);
  bool keeps_cancel_off = me.keeps_cancel_off;
  if (is_in_wait) me.keeps_cancel_off = true;
  {
    Allocating kind(Allocates::kForItself);
    pages::Interruptible not_by_itself(false);
    handler(signal_number, info, context);
  }
  if (is_in_wait) me.keeps_cancel_off = keeps_cancel_off;
  me.keeps_private = keeps_private;
}

// The kernel itself sends SIGPIPE and SIGXFSZ to a thread, and those are no signals that end
// processes from elsewhere. With a value this process sends to its threads alone.
bool relay(int signal_number, const siginfo_t& info) {
  bool is_own = info.si_code == SI_QUEUE && info.si_pid == the_process;
  if (info.si_code == SI_TKILL || is_own) return false;
  Relayed& one = relayed[static_cast<std::size_t>(signal_number)];
  one.code.store(info.si_code);
  one.value.store(info.si_value.sival_ptr);
  relayed_set.fetch_or(bit_of(signal_number));
  if (pid_t thread = server.load(); thread != 0) platform::wake_thread(thread);
  return true;
}

void set_waits_as(Record& record, std::uint32_t as) {
  Holding hold(&Program::get()->control().lock);
  record.waits_as = as;
}

template <typename Call>
bool run_on_first(Call& call) {
  return call_on_node(0, call);
}

// A system call's result and error number.
struct Answer {
  int result = -1, error = 0;
  void set(int got) {
    result = got;
    error = errno;
  }
  int get() const {
    if (result < 0) errno = error;
    return result;
  }
};

struct WaitForSignal {
  sigset_t set;
  siginfo_t info;
  timespec timeout;
  bool is_timed;
  Record* caller;
  Answer answer;

  void run() {
    auto own = this_thread().record - Program::get()->control().records;
    set_waits_as(*caller, static_cast<std::uint32_t>(own) + 1);
    answer.set(::sigtimedwait(&set, &info, is_timed ? &timeout : nullptr));
    set_waits_as(*caller, 0);
  }
};

struct OpenSignals {
  sigset_t set;
  int fd, flags;
  Answer answer;
  void run() { answer.set(::signalfd(fd, &set, flags)); }
};

struct LookForSignals {
  sigset_t set;
  Answer answer;
  void run() { answer.set(::sigpending(&set)); }
};

struct SetTimer {
  itimerval time, before;
  bool sets;
  Answer answer;
  void run() {
    answer.set(sets ? ::setitimer(ITIMER_REAL, &time, &before) : ::getitimer(ITIMER_REAL, &before));
  }
};

struct SendToGroup {
  pid_t group;
  int signal;
  Answer answer;
  void run() { answer.set(next<"kill">(::kill)(group, signal)); }
};

// A signal that this very thread was sent.
int take_own(const sigset_t& set, siginfo_t& info) {
  ForKernel<sigset_t> own;
  ForKernel<siginfo_t> taken;
  ForKernel<timespec> at_once;
  *own = set;
  *at_once = {};
  int got = next<"sigtimedwait">(::sigtimedwait)(own.get(), taken.get(), at_once.get());
  if (got > 0 && platform::is_wake(*taken)) return -1;
  if (got > 0) info = *taken;
  return got;
}

class Signals final : public ProcessSignals {
 public:
  explicit Signals(const Program& program) : self_(program.self()), nodes_(program.node().nodes()) {
    set(this);
  }

  // The other nodes have the action when the call returns.
  void changed(int signal_number, const struct sigaction& action) override {
    if (nodes_ == 1 || !is_in_program()) return;
    platform::SignalsClosed closed;
    Program& program = *Program::get();
    Process& process = program.control().process;
    Holding hold(&process.changes);
    process.actions[signal_number] = action;
    for (std::uint32_t n = 0; n < nodes_; ++n)
      if (n != self_)
        program.send(n, {Command::kAction, static_cast<std::uint32_t>(signal_number)});
    for (std::uint32_t n = 1; n < nodes_; ++n)
      program.node().take_units(count_of(&process.has_changed), {}, pages::kForEver);
  }

  bool are_elsewhere() override { return self_ != 0 && is_in_program(); }

  int wait(const sigset_t& set, siginfo_t* info, const timespec* timeout) override {
    WaitForSignal call{set, {}, {}, timeout != nullptr, this_thread().record, {}};
    if (timeout != nullptr) call.timeout = *timeout;
    Record& own = *this_thread().record;
    set_waits_as(own, kBeginsToWait);
    int result = take_own(set, call.info);
    if (result < 0)
      result = cancellable([&] { return run_on_first(call) ? call.answer.get() : -1; });
    set_waits_as(own, 0);
    if (result >= 0 && info != nullptr) *info = call.info;
    return result;
  }

  int open(int fd, const sigset_t& set, int flags) override {
    OpenSignals call{set, fd, flags, {}};
    return run_on_first(call) ? call.answer.get() : -1;
  }

  int pending(sigset_t& to) override {
    LookForSignals call{};
    if (!run_on_first(call) || call.answer.get() < 0) return -1;
    sigorset(&to, &to, &call.set);
    return 0;
  }

  int timer(const itimerval* time, itimerval* before) override {
    SetTimer call{};
    call.sets = time != nullptr;
    if (time != nullptr) call.time = *time;
    if (!run_on_first(call) || call.answer.get() < 0) return -1;
    if (before != nullptr) *before = call.before;
    return 0;
  }

 private:
  const std::uint32_t self_, nodes_;
};

}  // namespace

bool is_echo(int signal_number, const siginfo_t& info) {
  Latest& last = latest[static_cast<std::size_t>(signal_number)];
  bool by_launcher = info.si_code == SI_USER && info.si_pid == the_parent;
  if (by_launcher && !last.by_launcher.load() && ran_just_now(signal_number)) return true;
  last.by_launcher.store(by_launcher);
  last.at_ns.store(platform::now_ns());
  return false;
}

void share_process(Control& control) {
  Process& process = control.process;
  process.number = base::own_process();
  process.parent = static_cast<pid_t>(::syscall(SYS_getppid));
  process.group = ::getpgid(0);
  process.session = ::getsid(0);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now {};
    if (platform::program_sigaction(signal, nullptr, &now) == 0) process.actions[signal] = now;
  }
}

void begin_signals(const Program& program) {
  the_process = base::own_process();
  the_parent = static_cast<pid_t>(::syscall(SYS_getppid));
  platform::begin_program_handlers(
      {must_wait, runtime::postpone_signals, run, program.self() == 0 ? nullptr : relay});
  if (program.self() != 0) {
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action = program.control().process.actions[signal];
      if (signal != SIGKILL && signal != SIGSTOP)
        platform::program_sigaction(signal, &action, nullptr);
    }
  }
  static auto* signals = new Signals(program);
  static_cast<void>(signals);
}

void begin_relaying() {
  if (Program::get()->self() != 0) server.store(static_cast<pid_t>(::syscall(SYS_gettid)));
}

bool has_relayed_signals() { return relayed_set.load(std::memory_order_relaxed) != 0; }

void relay_signals() {
  if (!has_relayed_signals()) return;
  std::uint64_t all = relayed_set.exchange(0);
  for (int signal = 1; signal < NSIG; ++signal) {
    if ((all & bit_of(signal)) == 0) continue;
    Relayed& one = relayed[static_cast<std::size_t>(signal)];
    Command command{Command::kRelay, static_cast<std::uint32_t>(signal)};
    command.code = one.code.load();
    command.value = reinterpret_cast<std::uintptr_t>(one.value.load());
    Program::get()->send(0, command);
  }
}

void serve_signal(const Command& command) {
  Program& program = *Program::get();
  auto signal = static_cast<int>(command.number);
  auto* value = reinterpret_cast<void*>(command.value);
  switch (command.kind) {
    case Command::kAction: {
      Process& process = program.control().process;
      struct sigaction action = process.actions[signal];
      platform::program_sigaction(signal, &action, nullptr);
      program.node().change_count(count_of(&process.has_changed), protocol::CountOp::kAdd, 1);
      break;
    }
    case Command::kRelay:
      if (!ran_just_now(signal)) send_to_process(signal, command.code, value);
      break;
    case Command::kSignal:
      send_to_process(signal, command.code, value);
      acknowledge(command);
      break;
    case Command::kOffer:
      consider_offer(command);
      break;
    case Command::kAccept:
      send_accepted(command);
      break;
    case Command::kAccepted:
      deliver_accepted(command);
      break;
    default:
      signal_thread(command);
      acknowledge(command);
  }
}

bool is_programs_process(pid_t process) {
  Program* program = Program::get();
  return program != nullptr && is_in_program() && base::own_process() == the_process &&
         (process == the_process || process == program->control().process.number);
}

}  // namespace terrane::frontend::threads

using namespace terrane::frontend;
using namespace terrane::frontend::threads;

namespace {

// The calling thread is one of the program's, and this is no child of vfork.
bool is_programs() {
  return Program::get() != nullptr && is_in_program() &&
         terrane::base::own_process() == the_process;
}

bool is_elsewhere() { return is_programs() && Program::get()->self() != 0; }

bool is_signal(int signal_number) { return signal_number >= 0 && signal_number < NSIG; }

int fail(int error) {
  errno = error;
  return -1;
}

// A signal of a thread of another node than 0 for the process.
int send_from_here(int signal_number, int code, void* value) {
  if (!is_signal(signal_number)) return fail(EINVAL);
  if (signal_number == 0) return 0;
  Command command{Command::kSignal, static_cast<std::uint32_t>(signal_number)};
  command.code = code;
  command.value = reinterpret_cast<std::uintptr_t>(value);
  send_and_wait(0, command);
  return 0;
}

// An error number, or 0.
int send_to(Record& record, int signal_number, int code, void* value) {
  if (!is_signal(signal_number)) return EINVAL;
  Program& program = *Program::get();
  Record* target = &record;
  if (record.state != Record::kRunning) return record.state == Record::kFree ? ESRCH : 0;
  if (signal_number == 0) return 0;
  if (target == this_thread().record)
    return send_to_thread(static_cast<pid_t>(::syscall(SYS_gettid)), signal_number, code, value);
  Command command{Command::kThreadSignal,
                  static_cast<std::uint32_t>(target - program.control().records)};
  command.generation = target->generation;
  command.signal = signal_number;
  command.code = code;
  command.value = reinterpret_cast<std::uintptr_t>(value);
  if (target->node == program.self()) {
    signal_thread(command);
  } else {
    send_and_wait(target->node, command);
  }
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

pid_t getpid(void) noexcept {
  pid_t own = terrane::base::own_process();
  bool asks = own == the_process && Program::get() != nullptr && is_in_program();
  return asks ? Program::get()->control().process.number : own;
}

int kill(pid_t process, int signal_number) noexcept {
  if (!is_elsewhere()) return next<"kill">(::kill)(process, signal_number);
  if (is_programs_process(process)) return send_from_here(signal_number, SI_USER, nullptr);
  pid_t group = Program::get()->control().process.group;
  if (process != 0 && process != -group) return next<"kill">(::kill)(process, signal_number);
  SendToGroup call{process, signal_number, {}};
  return run_on_first(call) ? call.answer.get() : -1;
}

int killpg(pid_t group, int signal_number) noexcept {
  if (group < 0) return fail(EINVAL);
  return kill(-group, signal_number);
}

int sigqueue(pid_t process, int signal_number, const sigval value) noexcept {
  if (is_elsewhere() && is_programs_process(process))
    return send_from_here(signal_number, SI_QUEUE, value.sival_ptr);
  return next<"sigqueue">(::sigqueue)(process, signal_number, value);
}

int pthread_kill(pthread_t thread, int signal_number) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr) return next<"pthread_kill">(::pthread_kill)(thread, signal_number);
  return send_to(*record, signal_number, SI_TKILL, nullptr);
}

int pthread_sigqueue(pthread_t thread, int signal_number, const sigval value) noexcept {
  auto* call = next<"pthread_sigqueue">(::pthread_sigqueue);
  Record* record = record_of(thread);
  if (record == nullptr) return call(thread, signal_number, value);
  return send_to(*record, signal_number, SI_QUEUE, value.sival_ptr);
}

int tgkill(pid_t process, pid_t thread, int signal_number) noexcept {
  if (is_programs_process(process)) process = the_process;
  return next<"tgkill">(::tgkill)(process, thread, signal_number);
}

unsigned alarm(unsigned seconds) noexcept {
  itimerval time{}, before{};
  time.it_value.tv_sec = static_cast<time_t>(seconds);
  if (::setitimer(ITIMER_REAL, &time, &before) != 0) return 0;
  bool rounds_up = before.it_value.tv_usec >= 500'000 ||
                   (before.it_value.tv_sec == 0 && before.it_value.tv_usec > 0);
  return static_cast<unsigned>(before.it_value.tv_sec) + (rounds_up ? 1 : 0);
}

}  // extern "C"
#pragma GCC visibility pop
