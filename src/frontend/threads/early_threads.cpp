#include "frontend/threads/early_threads.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/log.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"
#include "platform/fault_source.h"
#include "platform/module_owners.h"
#include "platform/program_signals.h"
#include "platform/wait.h"

namespace terrane::frontend::threads {
namespace {

// What becomes of a thread. It waits while it is kWaits.
enum State : std::uint32_t {
  kWaits,
  kBegins,  // at once, as a thread of its node
  kJoins,   // it has become a thread of the program, for which it waits
  kEnds     // nothing is left for it to do
};

struct Early {
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  pthread_t* where = nullptr;  // the caller's name of it, or nothing
  pthread_t name{};
  pthread_t becomes{};  // the thread of the program
  std::size_t stack_bytes = 0;
  std::atomic<std::uint32_t> state{kWaits};
  std::atomic<bool> has_ended{false};
};

constexpr std::size_t kMost = 1024;
Early all[kMost];
std::atomic<std::size_t> count{0};
std::atomic<bool> has_started{false}, joins{false};

void tell(Early& one, State state) {
  std::uint32_t waits = kWaits;
  if (one.state.compare_exchange_strong(waits, state)) platform::futex_wake_all(one.state);
}

// Whether the process's first thread waits in the kernel. In doubt it does.
bool first_thread_sleeps() {
  char text[512] = {};
  int file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY));
  if (file < 0) return true;
  ssize_t got = ::syscall(SYS_read, file, text, sizeof text - 1);
  ::syscall(SYS_close, file);
  const char* name_end = got > 0 ? std::strrchr(text, ')') : nullptr;
  return name_end == nullptr || name_end[1] != ' ' || name_end[2] == 'S';
}

// Whether a thread that was started after this one waits, too.
bool is_newest(const Early& one) {
  for (std::size_t i = count; i > 0 && &all[i - 1] > &one; --i)
    if (all[i - 1].state.load() == kWaits) return false;
  return true;
}

// Until somebody has said what becomes of the thread, or until the constructor seems to need it: it
// has slept for some looks, or has computed for very long. The newest one begins first: a
// constructor waits for what it has just started, and older ones may have to wait for main.
void wait_for_start(Early& one) {
  constexpr std::uint64_t kLookNs = 20'000'000;
  constexpr int kMostSleeps = 5, kMostLooks = 500;
  int sleeps = 0;
  for (int looks = 0; one.state.load() == kWaits; ++looks) {
    platform::futex_wait(one.state, kWaits, has_started.load() ? 0 : kLookNs);
    if (has_started.load()) continue;
    if (!is_newest(one)) sleeps = looks = 0;
    sleeps = first_thread_sleeps() && !joins ? sleeps + 1 : 0;
    if (sleeps == kMostSleeps || looks == kMostLooks) tell(one, kBegins);
  }
}

void* run_early(void* raw) {
  auto& one = *static_cast<Early*>(raw);
  wait_for_start(one);
  platform::open_fault_signals();
  platform::ensure_signal_stack();
  if (one.state.load() == kBegins) {
    struct End {  // also where it calls pthread_exit
      Early& one;
      ~End() { one.has_ended = true; }
    } end{one};
    return one.function(one.argument);
  }
  void* result = nullptr;
  if (one.state.load() == kJoins) ::pthread_join(one.becomes, &result);
  return result;
}

// Whether the caller's name of it is still where it was put. That may be no memory any more.
bool is_named(const Early& one) {
  pthread_t found{};
  iovec here{&found, sizeof found}, there{one.where, sizeof found};
  long got = ::syscall(SYS_process_vm_readv, ::getpid(), &here, 1, &there, 1, 0);
  return got == static_cast<long>(sizeof found) && found == one.name;
}

bool is_detached(pthread_t thread) {
  pthread_attr_t attributes;
  int state = PTHREAD_CREATE_JOINABLE;
  if (next<"pthread_getattr_np">(::pthread_getattr_np)(thread, &attributes) == 0) {
    pthread_attr_getdetachstate(&attributes, &state);
    pthread_attr_destroy(&attributes);
  }
  return state == PTHREAD_CREATE_DETACHED;
}

// Where the caller's name is known, it becomes that of the program's thread: then the early thread
// is not needed. Otherwise that one is what callers know, and waits for the other.
State adopt(Early& one) {
  bool detached = is_detached(one.name);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (one.stack_bytes != 0) pthread_attr_setstacksize(&attributes, one.stack_bytes);
  int error = create_thread(&one.becomes, &attributes, one.function, one.argument);
  pthread_attr_destroy(&attributes);
  if (error != 0) Program::get()->node().fail(std::strerror(error));
  if (detached) ::pthread_detach(one.becomes);
  if (one.where != nullptr) *one.where = one.becomes;
  if (one.where != nullptr && !detached) next<"pthread_detach">(::pthread_detach)(one.name);
  return one.where != nullptr || detached ? kEnds : kJoins;
}

// It waits for ever for what the program does, and the program for it.
void say_that_it_stays(const Early& one) {
  Dl_info info{};
  bool known = ::dladdr(reinterpret_cast<const void*>(one.function), &info) != 0;
  base::log(
      "a constructor of {} waits for a thread that it has started: before main that is a thread of "
      "its node alone, and what it waits for later does not reach it; if the program stops, open "
      "the library by dlopen in main",
      known && info.dli_fname != nullptr ? info.dli_fname : "a library");
}

bool is_nodes(const void* code) {
  Dl_info info{};
  return ::dladdr(code, &info) != 0 && info.dli_fname != nullptr &&
         platform::is_node_library(info.dli_fname);
}

}  // namespace

int create_early(const void* caller, pthread_t* thread, const pthread_attr_t* attributes,
                 void* (*function)(void*), void* argument) {
  auto* create = next<"pthread_create">(::pthread_create);
  void* stack = nullptr;
  std::size_t bytes = 0;
  if (attributes != nullptr) pthread_attr_getstack(attributes, &stack, &bytes);
  bool has_stack = reinterpret_cast<std::uintptr_t>(stack) + bytes != 0;
  bool is_kept = !has_stack && !has_started && !is_nodes(caller) &&
                 !is_nodes(reinterpret_cast<const void*>(function));
  std::size_t number = is_kept ? count.load() : kMost;
  if (number >= kMost) return create(thread, attributes, function, argument);
  Early& one = all[number];
  one.function = function;
  one.argument = argument;
  one.where = thread;
  one.stack_bytes = attributes != nullptr ? bytes : 0;
  int error = create(&one.name, attributes, run_early, &one);
  if (error != 0) return error;
  *thread = one.name;
  count.store(number + 1);
  return 0;
}

EarlyJoin::EarlyJoin(pthread_t thread) {
  if (has_started) return;
  for (std::size_t i = 0; i < count; ++i)
    if (all[i].name == thread) tell(all[i], kBegins);
  joins = true;
}
EarlyJoin::~EarlyJoin() { joins = false; }

void end_early_threads() {
  has_started = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_named(all[i])) all[i].where = nullptr;
    platform::futex_wake_all(all[i].state);
  }
}

void adopt_early_threads() {
  bool adopts = Program::get()->self() == 0, said = !adopts;
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].state == kBegins && !all[i].has_ended && !said) {
      say_that_it_stays(all[i]);
      said = true;
    }
    if (all[i].state != kWaits) continue;
    tell(all[i], adopts ? adopt(all[i]) : kEnds);
  }
}

}  // namespace terrane::frontend::threads
