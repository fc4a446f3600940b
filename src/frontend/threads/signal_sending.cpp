#include "frontend/threads/signal_sending.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/cancel.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::uint32_t kNobody = ~0u;

// The count by which a thread learns that its signal has been sent.
LockId sent_of(const Record& record) { return count_of(&record.signal_sent); }

// Sends it to a thread of this node; false: it is not there yet, since it has just been made, or
// begins to wait on node 0. `target`: whom it is for instead. Under the lock, so the thread finds
// the signal when it has begun to wait.
bool try_signal(const Command& command, std::uint32_t& target) {
  Control& control = Program::get()->control();
  Holding hold(&control.lock);
  const Record& record = control.records[command.number];
  bool lives = record.state == Record::kRunning && record.generation == command.generation;
  if (!lives) return true;
  if (record.waits_as == kBeginsToWait) return false;
  if (record.waits_as != 0) {
    target = record.waits_as - 1;
    return true;
  }
  pid_t thread = thread_of(command.number, command.generation);
  if (thread == 0) return false;
  send_to_thread(thread, command.signal, command.code, reinterpret_cast<void*>(command.value));
  return true;
}

}  // namespace

bool has_value(int code) { return code < 0 && code != SI_TKILL; }

void send_to_process(int signal_number, int code, void* value) {
  if (!has_value(code)) {
    next<"kill">(::kill)(the_process, signal_number);
    return;
  }
  siginfo_t info{};
  info.si_signo = signal_number;
  info.si_code = code;
  info.si_pid = the_process;
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = value;
  ::syscall(SYS_rt_sigqueueinfo, the_process, signal_number, &info);
}

int send_to_thread(pid_t thread, int signal_number, int code, void* value) {
  if (code != SI_QUEUE)
    return ::syscall(SYS_tgkill, the_process, thread, signal_number) == 0 ? 0 : errno;
  siginfo_t info{};
  info.si_signo = signal_number;
  info.si_code = SI_QUEUE;
  info.si_pid = the_process;
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = value;
  return ::syscall(SYS_rt_tgsigqueueinfo, the_process, thread, signal_number, &info) == 0 ? 0
                                                                                          : errno;
}

void acknowledge(const Command& command) {
  if (command.sender == 0) return;
  Program& program = *Program::get();
  const Record& sender = program.control().records[command.sender - 1];
  program.node().change_count(sent_of(sender), protocol::CountOp::kAdd, 1);
}

void send_and_wait(std::uint32_t node, Command command) {
  Program& program = *Program::get();
  const Record& own = *this_thread().record;
  command.sender = static_cast<std::uint32_t>(&own - program.control().records) + 1;
  program.send(node, command);
  program.node().take_units(sent_of(own), {}, pages::kForEver);
}

void signal_thread(Command command) {
  constexpr int kMostTries = 20'000;
  Program& program = *Program::get();
  std::uint32_t target = kNobody;
  for (int tries = 0; tries < kMostTries && !try_signal(command, target); ++tries) ::usleep(100);
  if (target == kNobody) return;
  const Record& record = program.control().records[target];
  command.number = target;
  command.generation = record.generation;
  command.sender = 0;
  if (record.node == program.self()) return signal_thread(command);
  program.send(record.node, command);
}

}  // namespace terrane::frontend::threads
