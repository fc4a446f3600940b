// Calls that wait for descriptors or signals: their arrays may lie in shared memory, and the mask
// that some of them wait under must not close the signals of faults to the handlers that run then.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/sleeping.h"
#include "platform/program_signals.h"

using namespace terrane::frontend;

namespace {

// The mask of such a call, or null where it has none.
class OpenMask {
 public:
  explicit OpenMask(const sigset_t* mask) : given_(mask != nullptr) {
    if (given_) *own_ = terrane::platform::without_fault_signals(*mask);
  }
  const sigset_t* get() const { return given_ ? own_.get() : nullptr; }

 private:
  bool given_;
  ForKernel<sigset_t> own_;
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
  return slept(own.done(result, events_bytes(result)));
}

// The first descriptor of a list that is elsewhere; -1: there is none.
int first_elsewhere(const pollfd* list, nfds_t count) {
  if (Elsewhere::get() == nullptr) return -1;
  for (nfds_t i = 0; i < count; ++i) {
    if (list[i].fd >= 0 && is_elsewhere(list[i].fd)) return list[i].fd;
  }
  return -1;
}

// On the node of all of them.
int poll_elsewhere(int first, pollfd* list, nfds_t count, int timeout_ms) {
  Elsewhere& elsewhere = *Elsewhere::get();
  for (nfds_t i = 0; i < count; ++i) {
    if (list[i].fd >= 0 && elsewhere.node_of(list[i].fd) != elsewhere.node_of(first))
      return elsewhere.refuse("poll", first);
  }
  std::size_t bytes = count * sizeof *list;
  OutShared shared(list, bytes);
  if (shared.get() == nullptr) return -1;
  auto* own = static_cast<pollfd*>(shared.get());
  if (own != list) std::copy_n(list, count, own);
  int ready = cancellable([&] { return call_elsewhere(first, ::poll, own, count, timeout_ms); });
  shared.done(bytes);
  return ready;
}

// A set that has a descriptor which is elsewhere.
bool refuses(int count, const fd_set* set) {
  for (int fd = 0; set != nullptr && fd < std::min(count, FD_SETSIZE); ++fd) {
    if (!FD_ISSET(fd, set) || !is_elsewhere(fd)) continue;
    Elsewhere::get()->refuse("select", fd);
    return true;
  }
  return false;
}

bool refuses(int count, const fd_set* read, const fd_set* write, const fd_set* except) {
  if (Elsewhere::get() == nullptr) return false;
  return refuses(count, read) || refuses(count, write) || refuses(count, except);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int poll(pollfd* list, nfds_t count, int timeout_ms) {
  int there = first_elsewhere(list, count);
  if (there >= 0) return poll_elsewhere(there, list, count, timeout_ms);
  OutBytes own(list, count * sizeof *list);
  int result = cancellable_next<"poll">(::poll)(static_cast<pollfd*>(own.get()), count, timeout_ms);
  return slept(own.done(result, count * sizeof *list));
}

int ppoll(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  if (int there = first_elsewhere(list, count); there >= 0)
    return Elsewhere::get()->refuse("ppoll", there);
  OutBytes own(list, count * sizeof *list);
  In<timespec> own_timeout(timeout);
  int result = cancellable_next<"ppoll">(::ppoll)(static_cast<pollfd*>(own.get()), count,
                                                  own_timeout.get(), OpenMask(mask).get());
  return slept(own.done(result, count * sizeof *list));
}

int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  if (refuses(count, read, write, except)) return -1;
  InOut<timeval> own(timeout);
  return slept(own.done(with_sets(count, read, write, except, [&](auto* r, auto* w, auto* e) {
    return cancellable_next<"select">(::select)(count, r, w, e, own.get());
  })));
}

int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
            const sigset_t* mask) {
  if (refuses(count, read, write, except)) return -1;
  In<timespec> own(timeout);
  OpenMask open(mask);
  return slept(with_sets(count, read, write, except, [&](auto* r, auto* w, auto* e) {
    return cancellable_next<"pselect">(::pselect)(count, r, w, e, own.get(), open.get());
  }));
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  if (is_elsewhere(epoll)) return call_elsewhere(epoll, ::epoll_ctl, epoll, operation, fd, event);
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("epoll_ctl", fd);
  In<epoll_event> own(event);
  return next<"epoll_ctl">(::epoll_ctl)(epoll, operation, fd, const_cast<epoll_event*>(own.get()));
}

int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  if (is_elsewhere(epoll))
    return cancellable(
        [&] { return call_elsewhere(epoll, ::epoll_wait, epoll, events, most, timeout_ms); });
  return with_events(events, most, [&](epoll_event* own) {
    return cancellable_next<"epoll_wait">(::epoll_wait)(epoll, own, most, timeout_ms);
  });
}

int epoll_pwait(int epoll, epoll_event* events, int most, int timeout_ms, const sigset_t* mask) {
  if (is_elsewhere(epoll))
    return mask == nullptr ? epoll_wait(epoll, events, most, timeout_ms)
                           : Elsewhere::get()->refuse("epoll_pwait", epoll);
  OpenMask open(mask);
  return with_events(events, most, [&](epoll_event* own) {
    return cancellable_next<"epoll_pwait">(::epoll_pwait)(epoll, own, most, timeout_ms, open.get());
  });
}

int epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* timeout,
                 const sigset_t* mask) {
  if (is_elsewhere(epoll)) return Elsewhere::get()->refuse("epoll_pwait2", epoll);
  In<timespec> own_timeout(timeout);
  OpenMask open(mask);
  return with_events(events, most, [&](epoll_event* own) {
    return cancellable_next<"epoll_pwait2">(::epoll_pwait2)(epoll, own, most, own_timeout.get(),
                                                            open.get());
  });
}

int sigsuspend(const sigset_t* mask) {
  return cancellable_next<"sigsuspend">(::sigsuspend)(OpenMask(mask).get());
}

}  // extern "C"
#pragma GCC visibility pop
