// Threads of the program: a thread that it creates starts on another node, or here, by its place.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "frontend/interpose/new_thread.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/cancel.h"
#include "frontend/threads/for_teams.h"
#include "frontend/threads/opening.h"
#include "frontend/threads/program.h"

namespace terrane::frontend::threads {
namespace {

using pages::kForEver;
using pages::kNoWait;
constexpr std::uint32_t kAnyNode = ~0u;

pthread_t name_of(const Record& record) { return reinterpret_cast<pthread_t>(&record); }

// Under the lock. The least loaded place, of equal ones the first; of this node, unless it is
// kAnyNode.
std::uint32_t best_slot(const Control& control, std::uint32_t node) {
  std::uint32_t best = kMostThreads;
  for (std::uint32_t i = 0; i < control.slots; ++i) {
    if (node != kAnyNode && control.node_of[i] != node) continue;
    if (best == kMostThreads || control.load[i] < control.load[best]) best = i;
  }
  return best == kMostThreads ? 0 : best;
}

// Under the lock; nullptr: there are as many threads as there can be.
Record* free_record(Control& control) {
  for (std::uint32_t i = 0; i < kMostThreads; ++i) {
    Record& record = control.records[(control.next_record + i) % kMostThreads];
    if (record.state != Record::kFree) continue;
    control.next_record = (control.next_record + i + 1) % kMostThreads;
    return &record;
  }
  return nullptr;
}

// What a new thread is to be.
struct Wanted {
  std::uint32_t node = kAnyNode;
  std::size_t stack_bytes = runtime::Stacks::default_bytes();
  bool is_detached = false;
  bool is_server = false;
};

Record* make_record(const Wanted& wanted, void* (*function)(void*), void* argument) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::uint64_t closed = 0;
  std::memcpy(&closed, &mask, sizeof closed);
  Inherited inherited = inherited_from_here();
  if (wanted.is_server) closed = ~0ull;  // signals are for threads of the program
  Control& control = Program::get()->control();
  Holding hold(&control.lock);
  Record* record = free_record(control);
  if (record == nullptr) return nullptr;
  record->state = Record::kRunning;
  record->slot = best_slot(control, wanted.node);
  record->node = wanted.node == kAnyNode ? control.node_of[record->slot] : wanted.node;
  record->is_detached = wanted.is_detached;
  record->is_cancelled = 0;
  record->waits_as = 0;
  record->is_server = wanted.is_server;
  ++record->generation;
  record->function = function;
  record->argument = argument;
  record->result = nullptr;
  record->stack_bytes = wanted.stack_bytes;
  record->closed_signals = closed;
  record->inherited = inherited;
  if (wanted.is_server) return record;
  ++control.load[record->slot];
  ++control.live;
  return record;
}

int create(pthread_t* thread, const Wanted& wanted, void* (*function)(void*), void* argument) {
  static std::atomic_flag said;
  Program& program = *Program::get();
  Record* record = make_record(wanted, function, argument);
  if (record == nullptr)
    return pages::refuse(said, EAGAIN,
                         "pthread_create: the program has {} threads already, the most that there "
                         "can be; the call fails with EAGAIN",
                         kMostThreads);
  *thread = name_of(*record);
  auto number = static_cast<std::uint32_t>(record - program.control().records);
  if (record->node != program.self()) {
    program.send(record->node, {Command::kStart, number});
    return 0;
  }
  int error = start_here(*record);
  if (error == 0) return 0;
  record->is_detached = 1;
  thread_has_ended(*record);
  return error;
}

Wanted wanted_by(const pthread_attr_t* attributes) {
  Wanted wanted;
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) {
    pthread_attr_getstacksize(attributes, &wanted.stack_bytes);
    pthread_attr_getdetachstate(attributes, &detached);
  }
  wanted.is_detached = detached == PTHREAD_CREATE_DETACHED;
  return wanted;
}

// Waits for the thread's end; the record is free afterwards.
int join(pthread_t thread, void** result, std::uint64_t until_ns) {
  Record* record = record_of(thread);
  if (record->state == Record::kFree) return ESRCH;
  if (record->is_detached != 0) return EINVAL;
  if (record == this_thread().record) return EDEADLK;
  Program& program = *Program::get();
  if (!pages::take_cancellably(count_of(&record->done), until_ns))
    return until_ns == kNoWait ? EBUSY : ETIMEDOUT;
  if (result != nullptr) *result = record->result;
  Holding hold(&program.control().lock);
  record->state = Record::kFree;
  return 0;
}

int join_until(pthread_t thread, void** result, clockid_t clock, const timespec* time) {
  std::uint64_t until_ns = 0;
  if (!pages::deadline(clock, time, until_ns)) return EINVAL;
  return join(thread, result, until_ns);
}

int detach(Record& record) {
  Program& program = *Program::get();
  bool has_ended = false;
  {
    Holding hold(&program.control().lock);
    if (record.state == Record::kFree) return ESRCH;
    if (record.is_detached != 0) return EINVAL;
    record.is_detached = 1;
    has_ended = record.state == Record::kEnded;
  }
  if (!has_ended) return 0;
  program.node().take_units(count_of(&record.done), {}, kForEver);
  Holding hold(&program.control().lock);
  record.state = Record::kFree;
  return 0;
}

}  // namespace

Record* record_of(pthread_t thread) {
  Program* program = Program::get();
  if (program == nullptr) return nullptr;
  Record* records = program->control().records;
  auto at = static_cast<std::uintptr_t>(thread);
  std::uintptr_t distance = at - reinterpret_cast<std::uintptr_t>(records);
  bool inside = distance < sizeof(Record) * kMostThreads && distance % sizeof(Record) == 0;
  return inside ? &records[distance / sizeof(Record)] : nullptr;
}

int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) {
  return create(thread, wanted_by(attributes), function, argument);
}

Record* create_server(std::uint32_t node, void* (*function)(void*), void* argument) {
  Wanted wanted;
  wanted.node = node;
  wanted.is_server = true;
  pthread_t thread;
  return create(&thread, wanted, function, argument) == 0 ? record_of(thread) : nullptr;
}

namespace {

// Calls about a thread of the program that reach it nowhere: once a kind.
int unserved(std::atomic_flag& said, const char* call, const char* why) {
  return pages::refuse(said, ENOTSUP, "{}: {}; the call fails with ENOTSUP", call, why);
}

bool is_programs() { return Program::get() != nullptr && this_thread().record != nullptr; }

int refuse_child(const char* call) {
  static std::atomic_flag said;
  errno = pages::refuse(said, ENOSYS,
                        "{}: a child would not have the program's memory, which lies on several "
                        "nodes; use posix_spawn, system or popen. The call fails with ENOSYS",
                        call);
  return -1;
}

}  // namespace
}  // namespace terrane::frontend::threads

using namespace terrane::frontend::threads;
using terrane::frontend::next;

#pragma GCC visibility push(default)
extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) noexcept {
  Program* program = Program::get();
  bool programs = program != nullptr && is_in_program() &&
                  program->allocates_shared(__builtin_return_address(0));
  if (const char* library = library_being_opened(); programs && library != nullptr)
    program->node().fail(
        fmt::format("{} starts a thread in its constructor, where other nodes do not have the "
                    "library yet: link the program with it",
                    library));
  if (!programs) return terrane::frontend::create_thread(thread, attributes, function, argument);
  return terrane::frontend::threads::create_thread(thread, attributes, function, argument);
}

int terrane_program_thread(std::uint32_t node, void* (*function)(void*), void* argument,
                           std::size_t stack_bytes) {
  Wanted wanted{node, stack_bytes, true};
  if (stack_bytes == 0) wanted.stack_bytes = terrane::runtime::Stacks::default_bytes();
  pthread_t thread;
  return create(&thread, wanted, function, argument);
}

int pthread_join(pthread_t thread, void** result) {
  if (record_of(thread) == nullptr) return next<"pthread_join">(::pthread_join)(thread, result);
  return join(thread, result, kForEver);
}

int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  if (record_of(thread) == nullptr)
    return next<"pthread_tryjoin_np">(::pthread_tryjoin_np)(thread, result);
  return join(thread, result, kNoWait);
}

int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* time) {
  if (record_of(thread) == nullptr)
    return next<"pthread_timedjoin_np">(::pthread_timedjoin_np)(thread, result, time);
  return join_until(thread, result, CLOCK_REALTIME, time);
}

int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* time) {
  if (record_of(thread) == nullptr)
    return next<"pthread_clockjoin_np">(::pthread_clockjoin_np)(thread, result, clock, time);
  return join_until(thread, result, clock, time);
}

int pthread_detach(pthread_t thread) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr) return next<"pthread_detach">(::pthread_detach)(thread);
  return detach(*record);
}

pthread_t pthread_self(void) noexcept {
  Record* record = this_thread().record;
  return record == nullptr ? next<"pthread_self">(::pthread_self)() : name_of(*record);
}

int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  auto* call = next<"pthread_setname_np">(::pthread_setname_np);
  Record* record = record_of(thread);
  if (record == nullptr) return call(thread, name);
  if (std::strlen(name) > 15) return ERANGE;
  if (record != this_thread().record) return 0;  // a name is for the reader of ps alone
  char own[16] = {};
  std::strcpy(own, name);
  return call(next<"pthread_self">(::pthread_self)(), own);
}

int pthread_getname_np(pthread_t thread, char* name, size_t bytes) noexcept {
  auto* call = next<"pthread_getname_np">(::pthread_getname_np);
  Record* record = record_of(thread);
  if (record == nullptr) return call(thread, name, bytes);
  char own[16] = {};
  if (record == this_thread().record) call(next<"pthread_self">(::pthread_self)(), own, sizeof own);
  if (std::strlen(own) >= bytes) return ERANGE;
  std::strcpy(name, own);
  return 0;
}

// Where a thread of another node runs is that node's business: what is asked for is believed.
int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) noexcept {
  auto* call = next<"pthread_setaffinity_np">(::pthread_setaffinity_np);
  return record_of(thread) == nullptr ? call(thread, bytes, set) : 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) noexcept {
  auto* call = next<"pthread_getaffinity_np">(::pthread_getaffinity_np);
  if (record_of(thread) == nullptr) return call(thread, bytes, set);
  cpu_set_t own;
  CPU_ZERO(&own);
  int error = call(next<"pthread_self">(::pthread_self)(), sizeof own, &own);
  if (error == 0) std::memcpy(set, &own, std::min(bytes, sizeof own));
  return error;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr)
    return next<"pthread_getattr_np">(::pthread_getattr_np)(thread, attributes);
  int error = pthread_attr_init(attributes);
  if (error != 0) return error;
  if (record->is_detached != 0) pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
  if (record != this_thread().record) return 0;
  const terrane::runtime::Stack& stack = this_thread().stack;
  return pthread_attr_setstack(attributes, stack.base, stack.bytes);
}

int pthread_getschedparam(pthread_t thread, int* policy, sched_param* out) noexcept {
  auto* call = next<"pthread_getschedparam">(::pthread_getschedparam);
  if (record_of(thread) == nullptr) return call(thread, policy, out);
  *policy = SCHED_OTHER;
  out->sched_priority = 0;
  return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const sched_param* param) noexcept {
  static std::atomic_flag said;
  auto* call = next<"pthread_setschedparam">(::pthread_setschedparam);
  if (record_of(thread) == nullptr) return call(thread, policy, param);
  if (policy == SCHED_OTHER) return 0;
  return unserved(said, "pthread_setschedparam",
                  "threads of a program on several nodes have no priorities");
}

int pthread_setschedprio(pthread_t thread, int priority) noexcept {
  auto* call = next<"pthread_setschedprio">(::pthread_setschedprio);
  return record_of(thread) == nullptr ? call(thread, priority) : priority == 0 ? 0 : ENOTSUP;
}

int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) noexcept {
  auto* call = next<"pthread_getcpuclockid">(::pthread_getcpuclockid);
  Record* record = record_of(thread);
  if (record == nullptr) return call(thread, clock);
  if (record != this_thread().record) return ENOENT;
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}

pid_t fork(void) noexcept { return is_programs() ? refuse_child("fork") : next<"fork">(::fork)(); }

int daemon(int stays, int keeps) noexcept {
  return is_programs() ? refuse_child("daemon") : next<"daemon">(::daemon)(stays, keeps);
}

}  // extern "C"
#pragma GCC visibility pop
