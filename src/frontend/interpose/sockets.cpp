// Addresses and options of sockets.
#include <sys/socket.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/next.h"

using terrane::frontend::InBytes;
using terrane::frontend::InOut;
using terrane::frontend::next;
using terrane::frontend::Out;
using terrane::frontend::OutBytes;
using terrane::frontend::SharedRange;

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

int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  InBytes own(address, size);
  return next<"bind">(::bind)(fd, static_cast<const sockaddr*>(own.get()), size);
}

int connect(int fd, const sockaddr* address, socklen_t size) {
  InBytes own(address, size);
  return next<"connect">(::connect)(fd, static_cast<const sockaddr*>(own.get()), size);
}

int accept(int fd, sockaddr* address, socklen_t* size) {
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return next<"accept">(::accept)(fd, static_cast<sockaddr*>(own), room);
  });
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return next<"accept4">(::accept4)(fd, static_cast<sockaddr*>(own), room, flags);
  });
}

int getsockname(int fd, sockaddr* address, socklen_t* size) noexcept {
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return next<"getsockname">(::getsockname)(fd, static_cast<sockaddr*>(own), room);
  });
}

int getpeername(int fd, sockaddr* address, socklen_t* size) noexcept {
  return fill_sized(address, size, [=](void* own, socklen_t* room) {
    return next<"getpeername">(::getpeername)(fd, static_cast<sockaddr*>(own), room);
  });
}

int getsockopt(int fd, int level, int name, void* value, socklen_t* size) noexcept {
  return fill_sized(value, size, [=](void* own, socklen_t* room) {
    return next<"getsockopt">(::getsockopt)(fd, level, name, own, room);
  });
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  InBytes own(value, size);
  return next<"setsockopt">(::setsockopt)(fd, level, name, own.get(), size);
}

int socketpair(int domain, int type, int protocol, int pair[2]) noexcept {
  struct Pair {
    int ends[2];
  };
  Out<Pair> own(reinterpret_cast<Pair*>(pair));
  return own.done(next<"socketpair">(::socketpair)(domain, type, protocol, own.get()->ends));
}

}  // extern "C"
#pragma GCC visibility pop
