// Functions for the end of something (SIGEV_THREAD), which the C library would run in threads of
// its own: they run in threads of the program, on any node by their place.
#include "frontend/interpose/notices.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>

#include "frontend/interpose/for_kernel.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"

namespace terrane::frontend::threads {
namespace {

// A function for a thread of the program; in shared memory.
struct Call {
  void (*function)(sigval);
  sigval value;
};

void* run(void* raw) {
  Call call = *static_cast<Call*>(raw);
  Program::get()->heap().free(raw);
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  call.function(call.value);
  return nullptr;
}

// An error number, or 0. stack_bytes: 0 is the default.
int start_thread(const Call& call, std::size_t stack_bytes) {
  void* room = Program::get()->heap().allocate(sizeof(Call));
  if (room == nullptr) return EAGAIN;
  new (room) Call(call);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  int error = create_thread(&thread, &attributes, run, room);
  pthread_attr_destroy(&attributes);
  if (error != 0) Program::get()->heap().free(room);
  return error;
}

std::size_t stack_bytes_of(const sigevent& event) {
  std::size_t bytes = 0;
  if (event.sigev_notify_attributes != nullptr)
    pthread_attr_getstacksize(event.sigev_notify_attributes, &bytes);
  return bytes;
}

// The timers of this node that call a function, by the kernel's number, and the thread that their
// signal goes to. It starts a thread for each.
class TimerThread {
 public:
  // 0: the system has no thread for it.
  pid_t number() {
    static const bool begun = [this] {
      Private ours;
      try {
        platform::start_without_signals([this] { serve(); }).detach();
        return true;
      } catch (const std::system_error&) {
        return false;
      }
    }();
    while (begun && number_.load() == 0) platform::futex_wait(number_, 0, 0);
    return static_cast<pid_t>(number_.load());
  }

  void add(int timer, const Call& call, std::size_t stack_bytes) {
    Private ours;
    std::lock_guard hold(mutex_);
    timers_[timer] = {call, stack_bytes};
  }

  void remove(int timer) {
    Private ours;
    std::lock_guard hold(mutex_);
    timers_.erase(timer);
  }

  // That of the C library's own timers; no program can use it.
  static constexpr int kSignal = 32;

 private:
  struct Timer {
    Call call;
    std::size_t stack_bytes;
  };

  [[noreturn]] void serve() {
    const std::uint64_t set = std::uint64_t{1} << (kSignal - 1);
    ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, nullptr, sizeof set);
    number_.store(static_cast<std::uint32_t>(::syscall(SYS_gettid)));
    platform::futex_wake_all(number_);
    for (;;) {
      siginfo_t info;
      if (::syscall(SYS_rt_sigtimedwait, &set, &info, nullptr, sizeof set) == kSignal)
        has_expired(info.si_timerid);
    }
  }

  // The signal of a timer that is deleted may be on its way.
  void has_expired(int timer) {
    Timer found;
    {
      std::lock_guard hold(mutex_);
      auto at = timers_.find(timer);
      if (at == timers_.end()) return;
      found = at->second;
    }
    start_thread(found.call, found.stack_bytes);
  }

  std::atomic<std::uint32_t> number_{0};
  std::mutex mutex_;
  std::map<int, Timer> timers_;
};

TimerThread& timer_thread() {
  static auto* thread = new TimerThread();
  return *thread;
}

// The queues of this node for whose next message a function is to be called. The kernel tells it by
// a socket: it sends back the bytes that it was given with the queue, with another last one
// (linux/mqueue.h).
class QueueThread {
 public:
  // -1 and errno, or 0.
  int add(mqd_t queue, const Call& call, std::size_t stack_bytes) {
    Private ours;
    if (!has_begun()) {
      errno = EAGAIN;
      return -1;
    }
    ForKernel<sigevent> event;
    ForKernel<Cookie> cookie;
    *event = {};
    event->sigev_notify = SIGEV_THREAD;
    event->sigev_signo = socket_;
    event->sigev_value.sival_ptr = cookie.get();
    std::lock_guard hold(mutex_);
    *cookie = {.number = ++last_};
    awaited_[last_] = {call, stack_bytes};
    if (::syscall(SYS_mq_notify, queue, event.get()) == 0) return 0;
    awaited_.erase(last_);
    return -1;
  }

 private:
  struct Cookie {
    std::uint64_t number;
    char rest[23];
    char state;
  };
  static_assert(sizeof(Cookie) == 32);
  static constexpr char kHasCome = 1;  // otherwise nobody waits for it any more

  struct Awaited {
    Call call;
    std::size_t stack_bytes;
  };

  bool has_begun() {
    static const bool begun = [this] {
      socket_ = next<"socket">(::socket)(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
      if (socket_ < 0) return false;
      try {
        platform::start_without_signals([this] { serve(); }).detach();
        return true;
      } catch (const std::system_error&) {
        return false;
      }
    }();
    return begun;
  }

  [[noreturn]] void serve() {
    for (;;) {
      Cookie cookie;
      if (next<"recv">(::recv)(socket_, &cookie, sizeof cookie, 0) == sizeof cookie) tell(cookie);
    }
  }

  void tell(const Cookie& cookie) {
    Awaited found;
    {
      std::lock_guard hold(mutex_);
      auto at = awaited_.find(cookie.number);
      if (at == awaited_.end()) return;
      found = at->second;
      awaited_.erase(at);
    }
    if (cookie.state == kHasCome) start_thread(found.call, found.stack_bytes);
  }

  int socket_ = -1;
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Awaited> awaited_;
};

QueueThread& queue_thread() {
  static auto* thread = new QueueThread();
  return *thread;
}

class ProgramNotices final : public Notices {
 public:
  explicit ProgramNotices(std::uint32_t self) : self_(self) { set(this); }

  bool asks() override { return concerns_all_nodes(); }
  std::uint32_t self() override { return self_; }

  int create_timer(clockid_t clock, const sigevent& event, timer_t& timer) override {
    ForKernel<sigevent> own;
    ForKernel<timer_t> made;
    *own = {};
    own->sigev_notify = SIGEV_THREAD_ID;
    own->sigev_signo = TimerThread::kSignal;
    own->_sigev_un._tid = timer_thread().number();
    if (own->_sigev_un._tid == 0) {
      errno = EAGAIN;
      return -1;
    }
    int result = next<"timer_create">(::timer_create)(clock, own.get(), made.get());
    if (result != 0) return result;
    timer = *made;
    timer_thread().add(number_of(timer), {event.sigev_notify_function, event.sigev_value},
                       stack_bytes_of(event));
    return 0;
  }

  void forget_timer(timer_t timer) override { timer_thread().remove(number_of(timer)); }

  int await_message(mqd_t queue, const sigevent& event) override {
    return queue_thread().add(queue, {event.sigev_notify_function, event.sigev_value},
                              stack_bytes_of(event));
  }

  int start(const sigevent& event) override {
    return start_thread({event.sigev_notify_function, event.sigev_value}, stack_bytes_of(event));
  }

 private:
  static int number_of(timer_t timer) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(timer));
  }

  const std::uint32_t self_;
};

}  // namespace

void share_notices(const Program& program) {
  if (program.node().nodes() == 1) return;
  static auto* notices = new ProgramNotices(program.self());
  static_cast<void>(notices);
}

}  // namespace terrane::frontend::threads
