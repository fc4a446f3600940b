#include "frontend/threads/signal_offers.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/cancel.h"
#include "frontend/threads/process_signals.h"
#include "frontend/threads/program.h"
#include "frontend/threads/signal_sending.h"
#include "platform/fault_signal.h"
#include "platform/file_text.h"
#include "platform/libc_signals.h"
#include "platform/program_signals.h"
#include "platform/quiet_thread.h"

namespace terrane::frontend::threads {
namespace {

// A thread of node 0 takes what it has open within this time, or a thread that waits there does.
// Then it is offered, more and more rarely, while no thread accepts it.
constexpr useconds_t kFirstPauseUs = 10'000, kLongestPauseUs = 320'000;

std::mutex offering;
bool are_offered = true;

std::uint64_t word_of(const sigset_t& set) {
  std::uint64_t word = 0;
  std::memcpy(&word, &set, sizeof word);
  return word;
}

sigset_t set_of(std::uint64_t word) {
  sigset_t set;
  sigemptyset(&set);
  std::memcpy(&set, &word, sizeof word);
  return set;
}

std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

// Signals of mistakes are for the thread that makes them.
std::uint64_t for_processes() {
  sigset_t all;
  sigfillset(&all);
  all = platform::without_fault_signals(all);
  for (int signal : {SIGKILL, SIGSTOP, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, signal);
  return word_of(all);
}

// Those of the set that a thread of this process has open now; it may have ended.
std::uint64_t open_of(pid_t thread, std::uint64_t set) {
  constexpr int kHexadecimal = 16;
  std::string status = platform::file_text("/proc/self/task/" + std::to_string(thread) + "/status");
  std::vector<std::string_view> words = platform::words_of(status);
  auto closed = std::find(words.begin(), words.end(), "SigBlk:");
  if (words.end() - closed < 2) return 0;
  return set & ~std::stoull(std::string(closed[1]), nullptr, kHexadecimal);
}

// The program's threads of this node that have signals of the set open now, by their records, until
// visit(number, generation, signals) returns true.
template <typename Visit>
void for_open(std::uint64_t set, Visit visit) {
  for (std::uint32_t number = 0; number < kMostThreads && set != 0; ++number) {
    std::uint32_t generation = generation_of(number);
    pid_t thread = generation == 0 ? 0 : thread_of(number, generation);
    std::uint64_t open = thread == 0 ? 0 : open_of(thread, set);
    if (open != 0 && visit(number, generation, open)) return;
  }
}

bool has_handler(int signal) {
  struct sigaction now {};
  if (platform::program_sigaction(signal, nullptr, &now) != 0) return false;
  bool is_plain = (now.sa_flags & SA_SIGINFO) == 0;
  return !is_plain || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
}

void offer(std::uint64_t signals) {
  std::lock_guard hold(offering);
  if (!are_offered) return;
  Program& program = *Program::get();
  Command command{Command::kOffer, 0};
  command.value = signals;
  for (std::uint32_t n = 1; n < program.node().nodes(); ++n) program.send(n, command);
}

// This thread has all signals closed: what it finds pending is the process's.
[[noreturn]] void watch() {
  sigset_t offered = set_of(for_processes());
  base::UniqueFd fd(next<"signalfd">(::signalfd)(-1, &offered, SFD_CLOEXEC));
  useconds_t pause = kFirstPauseUs;
  for (;;) {
    pollfd readable{fd.get(), POLLIN, 0};
    next<"poll">(::poll)(&readable, 1, -1);
    next<"usleep">(::usleep)(pause);
    sigset_t pending;
    next<"sigpending">(::sigpending)(&pending);
    std::uint64_t closed = word_of(pending) & word_of(offered);
    for_open(closed, [&](std::uint32_t, std::uint32_t, std::uint64_t open) {
      closed &= ~open;
      return closed == 0;
    });
    if (closed != 0) offer(closed);
    pause = closed == 0 ? kFirstPauseUs : std::min(pause * 2, kLongestPauseUs);
  }
}

}  // namespace

void begin_offers() {
  if (Program::get()->node().nodes() > 1) platform::start_without_signals(watch).detach();
}

void end_offers() {
  std::lock_guard hold(offering);
  are_offered = false;
}

void consider_offer(const Command& command) {
  for_open(command.value, [](std::uint32_t number, std::uint32_t generation, std::uint64_t open) {
    Command accepted{Command::kAccept, number};
    accepted.generation = generation;
    accepted.signal = std::countr_zero(open) + 1;
    Program::get()->send(0, accepted);
    return true;
  });
}

void send_accepted(const Command& command) {
  sigset_t one = set_of(bit_of(command.signal));
  if (!has_handler(command.signal)) {  // its default is the process's, not a thread's
    platform::libc_signals().set_mask(SIG_UNBLOCK, &one, nullptr);
    platform::libc_signals().set_mask(SIG_BLOCK, &one, nullptr);
    return;
  }
  siginfo_t info{};
  timespec at_once{};
  if (next<"sigtimedwait">(::sigtimedwait)(&one, &info, &at_once) <= 0) return;
  if (is_echo(command.signal, info)) return;
  Program& program = *Program::get();
  Command sent = command;
  sent.kind = Command::kAccepted;
  sent.code = has_value(info.si_code) ? SI_QUEUE : SI_TKILL;
  sent.value = reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr);
  program.send(program.control().records[command.number].node, sent);
}

void deliver_accepted(const Command& command) {
  pid_t thread = thread_of(command.number, command.generation);
  auto* value = reinterpret_cast<void*>(command.value);
  if (thread != 0 && open_of(thread, bit_of(command.signal)) != 0 &&
      send_to_thread(thread, command.signal, command.code, value) == 0)
    return;
  Command back{Command::kSignal, static_cast<std::uint32_t>(command.signal)};
  back.code = command.code == SI_QUEUE ? SI_QUEUE : SI_USER;
  back.value = command.value;
  Program::get()->send(0, back);
}

}  // namespace terrane::frontend::threads
