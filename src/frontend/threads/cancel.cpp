#include "frontend/threads/cancel.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/program.h"
#include "platform/wait.h"
#include "platform/wake_signal.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::uint64_t kWakeAgainNs = 10'000'000;

// A thread of this node, as requests see it. In private memory, by the number of its record.
struct Target {
  std::atomic<std::uint32_t> generation{0};  // of the record: the thread's; 0: there is no thread
  std::atomic<std::uint32_t> cancelled{0};   // the latest one that was cancelled
  std::atomic<std::uint32_t> waits{0};  // calls that it is in and that a request ends: a signal
                                        // handler may be in another one
  std::atomic<pid_t> thread{0};

  bool is_cancelled() const {
    std::uint32_t now = generation.load();
    return now != 0 && now == cancelled.load();
  }
};
std::array<Target, kMostThreads> targets;

std::uint32_t number_of(const Record& record) {
  return static_cast<std::uint32_t>(&record - Program::get()->control().records);
}

Target& target_of(const Record& record) { return targets[number_of(record)]; }

class Points final : public Cancelling {
 public:
  Points() { set(this); }

  void test() override {
    if (may_end() && own().is_cancelled()) end_thread(PTHREAD_CANCELED);
  }
  // The thread says that it waits before it looks, and a request marks it before it looks whether
  // the thread waits: one of them sees the other.
  bool enter() override {
    if (!may_end()) return false;
    own().waits.fetch_add(1);
    if (own().is_cancelled()) end_thread(PTHREAD_CANCELED);
    return true;
  }
  void leave(bool was_woken) override {
    own().waits.fetch_sub(1);
    if (was_woken) test();
  }
  bool is_to_wake() override {
    if (this_thread().record == nullptr) return false;
    return own().waits.load() != 0 && own().is_cancelled();
  }

 private:
  static Target& own() { return target_of(*this_thread().record); }
  // Calls of the runtime and of libraries on its behalf are no cancellation points.
  static bool may_end() { return is_in_program() && !this_thread().keeps_cancel_off; }
};

}  // namespace

void begin_cancelling() {
  static auto* points = new Points();
  static_cast<void>(points);
}

void begin_target(const Record& record) {
  Target& target = target_of(record);
  target.waits.store(0);
  target.thread.store(static_cast<pid_t>(::syscall(SYS_gettid)));
  target.generation.store(record.generation);
  this_thread().keeps_cancel_off = false;
}

void end_target(const Record& record) {
  this_thread().keeps_cancel_off = true;
  target_of(record).generation.store(0);
}

int cancel(Record& record) {
  Program& program = *Program::get();
  Command command{Command::kCancel, number_of(record)};
  {
    Holding hold(&program.control().lock);
    if (record.state == Record::kFree) return ESRCH;
    if (record.state == Record::kEnded || record.is_cancelled != 0) return 0;
    record.is_cancelled = 1;
    command.generation = record.generation;
  }
  program.send(record.node, command);
  program.node().take_units(count_of(&record), {}, pages::kForEver);
  return 0;
}

std::uint32_t generation_of(std::uint32_t number) { return targets[number].generation.load(); }

pid_t thread_of(std::uint32_t number, std::uint32_t generation) {
  const Target& target = targets[number];
  return target.generation.load() == generation ? target.thread.load() : 0;
}

pid_t await_thread(std::uint32_t number, std::uint32_t generation) {
  constexpr int kMostTries = 20'000;
  const Record& record = Program::get()->control().records[number];
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (pid_t thread = thread_of(number, generation); thread != 0) return thread;
    {
      Holding hold(&Program::get()->control().lock);
      if (record.state != Record::kRunning || record.generation != generation) return 0;
    }
    next<"usleep">(::usleep)(100);
  }
  return 0;
}

void mark_cancelled(std::uint32_t number, std::uint32_t generation) {
  Target& target = targets[number];
  if (generation > target.cancelled.load()) target.cancelled.store(generation);
  Program& program = *Program::get();
  const Record& record = program.control().records[number];
  program.node().change_count(count_of(&record), protocol::CountOp::kAdd, 1);
}

std::uint64_t wake_cancelled() {
  bool any = false;
  for (Target& target : targets) {
    if (target.waits.load() == 0 || !target.is_cancelled()) continue;
    platform::wake_thread(target.thread.load());
    any = true;
  }
  return any ? platform::now_ns() + kWakeAgainNs : pages::kForEver;
}

}  // namespace terrane::frontend::threads

using namespace terrane::frontend;
using namespace terrane::frontend::threads;

namespace {

bool is_programs_thread() { return Program::get() != nullptr && this_thread().record != nullptr; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_cancel(pthread_t thread) noexcept {
  Record* record = record_of(thread);
  return record == nullptr ? next<"pthread_cancel">(::pthread_cancel)(thread) : cancel(*record);
}

void pthread_testcancel(void) {
  if (!is_programs_thread()) return next<"pthread_testcancel">(::pthread_testcancel)();
  Cancelling::get()->test();
}

int pthread_setcancelstate(int state, int* before) {
  if (!is_programs_thread())
    return next<"pthread_setcancelstate">(::pthread_setcancelstate)(state, before);
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
  bool& is_off = this_thread().keeps_cancel_off;
  if (before != nullptr) *before = is_off ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
  is_off = state == PTHREAD_CANCEL_DISABLE;
  return 0;
}

int pthread_setcanceltype(int type, int* before) {
  static std::atomic_flag said;
  if (!is_programs_thread())
    return next<"pthread_setcanceltype">(::pthread_setcanceltype)(type, before);
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
  if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
    return pages::refuse(said, ENOTSUP,
                         "pthread_setcanceltype: a thread of a program on several nodes ends at "
                         "cancellation points alone; call pthread_testcancel in its loops. The "
                         "call fails with ENOTSUP");
  if (before != nullptr) *before = PTHREAD_CANCEL_DEFERRED;
  return 0;
}

// The C library's own forms of these reach its system calls past ours.
int pause(void) { return cancellable_next<"pause">(::pause)(); }

unsigned sleep(unsigned seconds) {
  timespec time{static_cast<time_t>(seconds), 0}, left{};
  if (nanosleep(&time, &left) == 0) return 0;
  return static_cast<unsigned>(left.tv_sec) + (left.tv_nsec >= 500'000'000 ? 1 : 0);
}

int usleep(useconds_t us) {
  timespec time{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1000};
  return nanosleep(&time, nullptr);
}

}  // extern "C"
#pragma GCC visibility pop
