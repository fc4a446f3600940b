// Addresses and options of sockets.
#include <sys/socket.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using namespace terrane::frontend;

namespace {

// call(bytes, size) fills in at most *size bytes and tells in *size how many there were.
template <typename Call>
int fill_sized(void* to, socklen_t* size, Call call) {
  if (!SharedRange::contains(to) && !SharedRange::contains(size)) return call(to, size);
  InOut<socklen_t> own_size(size);
  socklen_t room = size != nullptr ? *own_size.get() : 0;
  OutBytes own(to, room);
  int result = call(own.get(), own_size.get());
  if (size != nullptr) result = own.done(result, std::min(room, *own_size.get()));
  return own_size.done(result);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int accept(int fd, sockaddr* address, socklen_t* size) {
  if (is_elsewhere(fd))
    return cancellable([=] { return call_elsewhere(fd, ::accept, fd, address, size); });
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return adopt(cancellable_next<"accept">(::accept)(fd, static_cast<sockaddr*>(own), room));
  });
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  if (is_elsewhere(fd))
    return cancellable([=] { return call_elsewhere(fd, ::accept4, fd, address, size, flags); });
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return adopt(
        cancellable_next<"accept4">(::accept4)(fd, static_cast<sockaddr*>(own), room, flags));
  });
}

int getsockname(int fd, sockaddr* address, socklen_t* size) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::getsockname, fd, address, size);
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return next<"getsockname">(::getsockname)(fd, static_cast<sockaddr*>(own), room);
  });
}

int getpeername(int fd, sockaddr* address, socklen_t* size) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::getpeername, fd, address, size);
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return next<"getpeername">(::getpeername)(fd, static_cast<sockaddr*>(own), room);
  });
}

int getsockopt(int fd, int level, int name, void* value, socklen_t* size) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::getsockopt, fd, level, name, value, size);
  return fill_sized(value, size, [=](void* own, socklen_t* room) {
    return next<"getsockopt">(::getsockopt)(fd, level, name, own, room);
  });
}

int socketpair(int domain, int type, int protocol, int pair[2]) noexcept {
  struct Pair {
    int ends[2];
  };
  Out<Pair> own(reinterpret_cast<Pair*>(pair));
  int result = next<"socketpair">(::socketpair)(domain, type, protocol, own.get()->ends);
  if (result == 0) {
    for (int& end : own.get()->ends) end = adopt(end);
  }
  return own.done(result);
}

}  // extern "C"
#pragma GCC visibility pop
