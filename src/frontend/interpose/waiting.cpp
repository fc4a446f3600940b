// Calls that wait for descriptors or signals: their arrays may lie in shared memory, and the mask
// that some of them wait under must not close the signals of faults to the handlers that run then.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/next.h"
#include "platform/program_signals.h"

using terrane::frontend::In;
using terrane::frontend::InOut;
using terrane::frontend::next;
using terrane::frontend::OutBytes;

namespace {

// The mask of such a call, or null where it has none.
class OpenMask {
 public:
  explicit OpenMask(const sigset_t* mask) : given_(mask != nullptr) {
    if (given_) own_ = terrane::platform::without_fault_signals(*mask);
  }
  const sigset_t* get() const { return given_ ? &own_ : nullptr; }

 private:
  bool given_;
  sigset_t own_;
};

// The kernel works on whole words of a set.
std::size_t set_bytes(int count) {
  constexpr int kWordBits = 8 * sizeof(long);
  return count <= 0 ? 0
                    : static_cast<std::size_t>((count + kWordBits - 1) / kWordBits) * sizeof(long);
}

std::size_t events_bytes(int count) {
  return count <= 0 ? 0 : static_cast<std::size_t>(count) * sizeof(epoll_event);
}

// call(read, write, except) is select or pselect.
template <typename Call>
int with_sets(int count, fd_set* read, fd_set* write, fd_set* except, Call call) {
  std::size_t bytes = set_bytes(count);
  OutBytes own_read(read, bytes), own_write(write, bytes), own_except(except, bytes);
  int result = call(static_cast<fd_set*>(own_read.get()), static_cast<fd_set*>(own_write.get()),
                    static_cast<fd_set*>(own_except.get()));
  return own_except.done(own_write.done(own_read.done(result, bytes), bytes), bytes);
}

// call(events) is one of the epoll_wait family.
template <typename Call>
int with_events(epoll_event* events, int most, Call call) {
  OutBytes own(events, events_bytes(most));
  int result = call(static_cast<epoll_event*>(own.get()));
  return own.done(result, events_bytes(result));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int poll(pollfd* list, nfds_t count, int timeout_ms) {
  OutBytes own(list, count * sizeof *list);
  int result = next<"poll">(::poll)(static_cast<pollfd*>(own.get()), count, timeout_ms);
  return own.done(result, count * sizeof *list);
}

int ppoll(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  OutBytes own(list, count * sizeof *list);
  In<timespec> own_timeout(timeout);
  int result = next<"ppoll">(::ppoll)(static_cast<pollfd*>(own.get()), count, own_timeout.get(),
                                      OpenMask(mask).get());
  return own.done(result, count * sizeof *list);
}

int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  InOut<timeval> own(timeout);
  return own.done(with_sets(count, read, write, except, [&](auto* r, auto* w, auto* e) {
    return next<"select">(::select)(count, r, w, e, own.get());
  }));
}

int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
            const sigset_t* mask) {
  In<timespec> own(timeout);
  OpenMask open(mask);
  return with_sets(count, read, write, except, [&](auto* r, auto* w, auto* e) {
    return next<"pselect">(::pselect)(count, r, w, e, own.get(), open.get());
  });
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  In<epoll_event> own(event);
  return next<"epoll_ctl">(::epoll_ctl)(epoll, operation, fd, const_cast<epoll_event*>(own.get()));
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  return with_events(events, most, [&](epoll_event* own) {
    return next<"epoll_wait">(::epoll_wait)(epoll, own, most, timeout_ms);
  });
}

int epoll_pwait(int epoll, epoll_event* events, int most, int timeout_ms, const sigset_t* mask) {
  OpenMask open(mask);
  return with_events(events, most, [&](epoll_event* own) {
    return next<"epoll_pwait">(::epoll_pwait)(epoll, own, most, timeout_ms, open.get());
  });
}

int epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* timeout,
                 const sigset_t* mask) {
  In<timespec> own_timeout(timeout);
  OpenMask open(mask);
  return with_events(events, most, [&](epoll_event* own) {
    return next<"epoll_pwait2">(::epoll_pwait2)(epoll, own, most, own_timeout.get(), open.get());
  });
}

int sigsuspend(const sigset_t* mask) {
  return next<"sigsuspend">(::sigsuspend)(OpenMask(mask).get());
}

}  // extern "C"
#pragma GCC visibility pop
