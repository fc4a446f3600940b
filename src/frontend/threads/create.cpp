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
#include "frontend/threads/early_threads.h"
#include "frontend/threads/for_teams.h"
#include "frontend/threads/libraries.h"
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
  runtime::Stack stack{nullptr, runtime::Stacks::default_bytes()};  // no base: one of ours
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
  record->stack = wanted.stack;
  record->has_given_stack = wanted.stack.base != nullptr;
  record->closed_signals = closed;
  record->inherited = inherited;
  if (wanted.is_server) return record;
  control.has_made_threads = 1;
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

// Memory of the program for a thread's stack, with the room above it that is not aligned left out.
bool read_stack(const pthread_attr_t& attributes, runtime::Stack& stack) {
  constexpr std::uintptr_t kAligned = 64;
  void* base = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &base, &bytes);
  std::uintptr_t end = reinterpret_cast<std::uintptr_t>(base) + bytes;
  if (end == 0 && bytes == 0) return true;  // as without attributes
  stack.bytes = bytes;
  if (end == 0) return true;  // only its size is given
  stack.base = static_cast<std::byte*>(base);
  stack.bytes -= end % kAligned;
  return SharedRange::contains(base) && SharedRange::contains(stack.top() - 1);
}

bool wants_priority(const pthread_attr_t& attributes) {
  int inherits = PTHREAD_INHERIT_SCHED, policy = SCHED_OTHER;
  pthread_attr_getinheritsched(&attributes, &inherits);
  pthread_attr_getschedpolicy(&attributes, &policy);
  return inherits == PTHREAD_EXPLICIT_SCHED && policy != SCHED_OTHER;
}

// An error number, or 0.
int read_attributes(const pthread_attr_t& attributes, Wanted& wanted) {
  static std::atomic_flag said_stack, said_priority;
  int detached = PTHREAD_CREATE_JOINABLE;
  pthread_attr_getdetachstate(&attributes, &detached);
  wanted.is_detached = detached == PTHREAD_CREATE_DETACHED;
  if (!read_stack(attributes, wanted.stack))
    return pages::refuse(said_stack, EINVAL,
                         "pthread_create: the stack of pthread_attr_setstack is no memory of the "
                         "program, which all nodes have; the call fails with EINVAL");
  if (wants_priority(attributes))
    return pages::refuse(said_priority, ENOTSUP,
                         "pthread_create: threads of a program on several nodes have no "
                         "priorities (pthread_attr_setschedpolicy); the call fails with ENOTSUP");
  return 0;
}

// Those that the new thread may use, by pthread_attr_setaffinity_np.
void give_processors(pthread_t thread, const pthread_attr_t& attributes) {
  cpu_set_t set;
  std::memset(&set, 0xff, sizeof set);
  pthread_attr_getaffinity_np(&attributes, sizeof set, &set);
  auto* words = reinterpret_cast<const unsigned char*>(&set);
  bool is_any = std::all_of(words, words + sizeof set, [](unsigned char w) { return w == 0xff; });
  if (!is_any) set_processors_of(*record_of(thread), sizeof set, &set);
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
  Wanted wanted;
  if (attributes == nullptr) return create(thread, wanted, function, argument);
  if (int error = read_attributes(*attributes, wanted); error != 0) return error;
  int error = create(thread, wanted, function, argument);
  if (error == 0) give_processors(*thread, *attributes);
  return error;
}

Record* create_server(std::uint32_t node, void* (*function)(void*), void* argument) {
  Wanted wanted;
  wanted.node = node;
  wanted.is_server = true;
  pthread_t thread;
  return create(&thread, wanted, function, argument) == 0 ? record_of(thread) : nullptr;
}

namespace {

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
  if (program == nullptr && is_before_program())
    return create_early(__builtin_return_address(0), thread, attributes, function, argument);
  bool programs = program != nullptr && is_in_program() &&
                  program->allocates_shared(__builtin_return_address(0)) &&
                  !libraries().is_nodes(reinterpret_cast<const void*>(function));
  if (!programs) return terrane::frontend::create_thread(thread, attributes, function, argument);
  return terrane::frontend::threads::create_thread(thread, attributes, function, argument);
}

int terrane_program_thread(std::uint32_t node, void* (*function)(void*), void* argument,
                           std::size_t stack_bytes) {
  Wanted wanted;
  wanted.node = node;
  wanted.is_detached = true;
  if (stack_bytes != 0) wanted.stack.bytes = stack_bytes;
  pthread_t thread;
  return create(&thread, wanted, function, argument);
}

int pthread_join(pthread_t thread, void** result) {
  if (record_of(thread) == nullptr) {
    EarlyJoin joins(thread);
    return next<"pthread_join">(::pthread_join)(thread, result);
  }
  return join(thread, result, kForEver);
}

int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  if (record_of(thread) == nullptr) {
    EarlyJoin joins(thread);
    return next<"pthread_tryjoin_np">(::pthread_tryjoin_np)(thread, result);
  }
  return join(thread, result, kNoWait);
}

int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* time) {
  if (record_of(thread) == nullptr) {
    EarlyJoin joins(thread);
    return next<"pthread_timedjoin_np">(::pthread_timedjoin_np)(thread, result, time);
  }
  return join_until(thread, result, CLOCK_REALTIME, time);
}

int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* time) {
  if (record_of(thread) == nullptr) {
    EarlyJoin joins(thread);
    return next<"pthread_clockjoin_np">(::pthread_clockjoin_np)(thread, result, clock, time);
  }
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

pid_t fork(void) noexcept { return is_programs() ? refuse_child("fork") : next<"fork">(::fork)(); }

int daemon(int stays, int keeps) noexcept {
  return is_programs() ? refuse_child("daemon") : next<"daemon">(::daemon)(stays, keeps);
}

}  // extern "C"
#pragma GCC visibility pop
