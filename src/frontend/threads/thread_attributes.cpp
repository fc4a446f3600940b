// Names, processors and stacks of the program's threads, of any node: what a call asks of a thread
// of another node happens there. What no thread can have is refused with a sentence.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/cancel.h"
#include "frontend/threads/node_call.h"
#include "frontend/threads/state_calls.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {
namespace {

// What is done with a thread on its node. Lies in shared memory there.
struct ThreadCall {
  int (*make)(ThreadCall& call, pid_t thread);  // an error number, or 0
  std::uint32_t number, generation;             // of the record
  int error;
  union {
    char name[16];
    unsigned char processors[1024];  // the largest set that the kernel has
    runtime::Stack stack;
  };

  void run() {
    pid_t thread = await_thread(number, generation);
    error = thread == 0 ? ESRCH : make(*this, thread);
  }
};

// An error number, or 0.
int call_on_thread(Record& record, ThreadCall& call) {
  Program& program = *Program::get();
  if (record.state != Record::kRunning) return ESRCH;
  call.number = static_cast<std::uint32_t>(&record - program.control().records);
  call.generation = record.generation;
  if (record.node == program.self()) {
    call.run();
  } else {
    while (!call_on_node(record.node, call)) {
      if (errno != EINTR) return errno;
    }
  }
  return call.error;
}

// The kernel writes and reads it on the thread's own stack, since it does not reach all pages of
// shared memory.
struct ThreadName {
  char text[16] = {};
};

int open_name(pid_t thread, int flags) {
  Private ours;
  std::string path = "/proc/self/task/" + std::to_string(thread) + "/comm";
  return next<"open">(::open)(path.c_str(), flags | O_CLOEXEC);
}

int set_name(ThreadCall& call, pid_t thread) {
  ThreadName name;
  std::memcpy(name.text, call.name, sizeof name.text);
  return runtime::on_own_stack([=] {
    int fd = open_name(thread, O_WRONLY);
    if (fd < 0) return errno;
    int error = next<"write">(::write)(fd, name.text, std::strlen(name.text)) < 0 ? errno : 0;
    next<"close">(::close)(fd);
    return error;
  });
}

int get_name(ThreadCall& call, pid_t thread) {
  auto [error, name] = runtime::on_own_stack([=] {
    std::pair<int, ThreadName> got;
    int fd = open_name(thread, O_RDONLY);
    if (fd < 0) return std::pair(errno, ThreadName());
    ssize_t bytes = next<"read">(::read)(fd, got.second.text, sizeof got.second.text);
    got.first = bytes < 0 ? errno : 0;
    next<"close">(::close)(fd);
    if (bytes > 0) got.second.text[bytes - 1] = '\0';  // a line
    return got;
  });
  std::memcpy(call.name, name.text, sizeof call.name);
  return error;
}

cpu_set_t* set_of(ThreadCall& call) { return reinterpret_cast<cpu_set_t*>(call.processors); }

int set_processors(ThreadCall& call, pid_t thread) {
  return ::sched_setaffinity(thread, sizeof call.processors, set_of(call)) == 0 ? 0 : errno;
}

int get_processors(ThreadCall& call, pid_t thread) {
  return ::sched_getaffinity(thread, sizeof call.processors, set_of(call)) == 0 ? 0 : errno;
}

int get_stack(ThreadCall& call, pid_t) {
  call.stack = Program::get()->control().records[call.number].stack;
  return 0;
}

// Once a call: an error number with its sentence.
template <Name kCall>
int refused_thread(int error, const char* sentence) {
  static std::atomic_flag said;
  tell_refusal(said, error, kCall.text, sentence);
  return error;
}

constexpr const char* kNoPriorities =
    "threads of a program on several nodes have no priorities, since each node's kernel would "
    "compare those of its own threads alone";

}  // namespace

int set_processors_of(Record& record, std::size_t bytes, const cpu_set_t* set) {
  ThreadCall call{};
  call.make = set_processors;
  std::memcpy(call.processors, set, std::min(bytes, sizeof call.processors));
  int error = call_on_thread(record, call);
  if (error != EINVAL) return error;
  return refused_thread<"pthread_setaffinity_np">(
      EINVAL,
      "processors have the numbers of the host that the thread runs on, which has none of these");
}

}  // namespace terrane::frontend::threads

using namespace terrane::frontend::threads;
using terrane::frontend::next;

#pragma GCC visibility push(default)
extern "C" {

int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr) return next<"pthread_setname_np">(::pthread_setname_np)(thread, name);
  ThreadCall call{};
  if (std::strlen(name) >= sizeof call.name) return ERANGE;
  call.make = set_name;
  std::strcpy(call.name, name);
  return call_on_thread(*record, call);
}

int pthread_getname_np(pthread_t thread, char* name, size_t bytes) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr)
    return next<"pthread_getname_np">(::pthread_getname_np)(thread, name, bytes);
  ThreadCall call{};
  if (bytes < sizeof call.name) return ERANGE;
  call.make = get_name;
  int error = call_on_thread(*record, call);
  if (error == 0) std::strcpy(name, call.name);
  return error;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr)
    return next<"pthread_setaffinity_np">(::pthread_setaffinity_np)(thread, bytes, set);
  return set_processors_of(*record, bytes, set);
}

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr)
    return next<"pthread_getaffinity_np">(::pthread_getaffinity_np)(thread, bytes, set);
  ThreadCall call{};
  call.make = get_processors;
  int error = call_on_thread(*record, call);
  if (error != 0) return error;
  std::size_t common = std::min(bytes, sizeof call.processors);
  bool fits = std::all_of(call.processors + common, std::end(call.processors),
                          [](unsigned char some) { return some == 0; });
  if (!fits) return EINVAL;
  std::memset(set, 0, bytes);
  std::memcpy(set, call.processors, common);
  return 0;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  Record* record = record_of(thread);
  if (record == nullptr)
    return next<"pthread_getattr_np">(::pthread_getattr_np)(thread, attributes);
  ThreadCall call{};
  call.make = get_stack;
  bool is_detached = record->is_detached != 0;
  if (int error = call_on_thread(*record, call); error != 0) return error;
  if (int error = pthread_attr_init(attributes); error != 0) return error;
  if (is_detached) pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
  return pthread_attr_setstack(attributes, call.stack.base, call.stack.bytes);
}

int pthread_setattr_default_np(const pthread_attr_t* attributes) noexcept {
  if (!concerns_all_nodes())
    return next<"pthread_setattr_default_np">(::pthread_setattr_default_np)(attributes);
  return refused_thread<"pthread_setattr_default_np">(
      ENOTSUP,
      "threads of a program on several nodes have the default of `ulimit -s`; give the "
      "attributes to pthread_create");
}

int pthread_getschedparam(pthread_t thread, int* policy, sched_param* out) noexcept {
  auto* call = next<"pthread_getschedparam">(::pthread_getschedparam);
  if (record_of(thread) == nullptr) return call(thread, policy, out);
  *policy = SCHED_OTHER;
  out->sched_priority = 0;
  return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const sched_param* param) noexcept {
  auto* call = next<"pthread_setschedparam">(::pthread_setschedparam);
  if (record_of(thread) == nullptr) return call(thread, policy, param);
  if (policy == SCHED_OTHER) return 0;
  return refused_thread<"pthread_setschedparam">(ENOTSUP, kNoPriorities);
}

int pthread_setschedprio(pthread_t thread, int priority) noexcept {
  auto* call = next<"pthread_setschedprio">(::pthread_setschedprio);
  if (record_of(thread) == nullptr) return call(thread, priority);
  return priority == 0 ? 0 : refused_thread<"pthread_setschedprio">(ENOTSUP, kNoPriorities);
}

int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) noexcept {
  auto* call = next<"pthread_getcpuclockid">(::pthread_getcpuclockid);
  Record* record = record_of(thread);
  if (record == nullptr) return call(thread, clock);
  if (record != this_thread().record)
    return refused_thread<"pthread_getcpuclockid">(
        ENOENT, "a thread has its own clock alone: read CLOCK_THREAD_CPUTIME_ID in it");
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
