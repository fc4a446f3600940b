// Calls that move bytes between one buffer and a file or a socket: read(2), pread(2), recv(2) and
// those that write. None is noexcept: they are points where a thread can be cancelled.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/transfer.h"

using namespace terrane::frontend;

namespace {

// call(buffer) is one that reads or writes on another node.
template <typename Call>
ssize_t read_elsewhere(void* to, std::size_t bytes, Call call) {
  OutShared shared(to, bytes);
  ssize_t got = shared.get() == nullptr ? -1 : cancellable([&] { return call(shared.get()); });
  if (got > 0) shared.done(std::min(static_cast<std::size_t>(got), bytes));
  return got;
}

template <typename Call>
ssize_t write_elsewhere(const void* from, std::size_t bytes, Call call) {
  InShared shared(from, bytes);
  return shared.get() == nullptr ? -1 : cancellable([&] { return call(shared.get()); });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t read(int fd, void* to, size_t bytes) {
  if (is_elsewhere(fd))
    return read_elsewhere(
        to, bytes, [=](void* shared) { return call_elsewhere(fd, ::read, fd, shared, bytes); });
  auto call = cancellable_next<"read">(::read);
  if (!SharedRange::contains(to)) return call(fd, to, bytes);
  return receive(fd, to, bytes, [=](void* own, size_t n, size_t) { return call(fd, own, n); });
}

ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  if (is_elsewhere(fd))
    return read_elsewhere(to, bytes, [=](void* shared) {
      return call_elsewhere(fd, ::pread, fd, shared, bytes, offset);
    });
  auto call = cancellable_next<"pread">(::pread);
  if (!SharedRange::contains(to)) return call(fd, to, bytes, offset);
  return receive(fd, to, bytes, [=](void* own, size_t n, size_t done) {
    return call(fd, own, n, offset + static_cast<off_t>(done));
  });
}

ssize_t write(int fd, const void* from, size_t bytes) {
  if (is_elsewhere(fd))
    return write_elsewhere(from, bytes, [=](const void* shared) {
      return call_elsewhere(fd, ::write, fd, shared, bytes);
    });
  auto call = cancellable_next<"write">(::write);
  if (!SharedRange::contains(from)) return call(fd, from, bytes);
  return deliver(from, bytes, [=](const void* own, size_t n, size_t) { return call(fd, own, n); });
}

ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  if (is_elsewhere(fd))
    return write_elsewhere(from, bytes, [=](const void* shared) {
      return call_elsewhere(fd, ::pwrite, fd, shared, bytes, offset);
    });
  auto call = cancellable_next<"pwrite">(::pwrite);
  if (!SharedRange::contains(from)) return call(fd, from, bytes, offset);
  return deliver(from, bytes, [=](const void* own, size_t n, size_t done) {
    return call(fd, own, n, offset + static_cast<off_t>(done));
  });
}

ssize_t recvfrom(int fd, void* to, size_t bytes, int flags, sockaddr* address, socklen_t* size) {
  if (is_elsewhere(fd))
    return read_elsewhere(to, bytes, [=](void* shared) {
      return call_elsewhere(fd, ::recvfrom, fd, shared, bytes, flags, address, size);
    });
  auto call = cancellable_next<"recvfrom">(::recvfrom);
  if (!SharedRange::contains(to) && !SharedRange::contains(address) && !SharedRange::contains(size))
    return call(fd, to, bytes, flags, address, size);
  InOut<socklen_t> own_size(size);
  socklen_t room = size != nullptr ? *own_size.get() : 0;
  OutBytes own_address(address, std::min<size_t>(room, sizeof(sockaddr_storage)));
  auto once = [&](void* own, size_t n, size_t) {
    return call(fd, own, n, flags, static_cast<sockaddr*>(own_address.get()), own_size.get());
  };
  ssize_t got = SharedRange::contains(to) ? receive(fd, to, bytes, once) : once(to, bytes, 0);
  if (size != nullptr) got = own_address.done(got, std::min(room, *own_size.get()));
  return own_size.done(got);
}

ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  if (is_elsewhere(fd)) return recvfrom(fd, to, bytes, flags, nullptr, nullptr);
  auto call = cancellable_next<"recv">(::recv);
  if (!SharedRange::contains(to)) return call(fd, to, bytes, flags);
  return receive(fd, to, bytes,
                 [=](void* own, size_t n, size_t) { return call(fd, own, n, flags); });
}

ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  if (is_elsewhere(fd)) return sendto(fd, from, bytes, flags, nullptr, 0);
  auto call = cancellable_next<"send">(::send);
  if (!SharedRange::contains(from)) return call(fd, from, bytes, flags);
  return deliver(from, bytes,
                 [=](const void* own, size_t n, size_t) { return call(fd, own, n, flags); });
}

ssize_t sendto(int fd, const void* from, size_t bytes, int flags, const sockaddr* address,
               socklen_t size) {
  if (is_elsewhere(fd))
    return write_elsewhere(from, bytes, [=](const void* shared) {
      return call_elsewhere(fd, ::sendto, fd, shared, bytes, flags, address, size);
    });
  auto call = cancellable_next<"sendto">(::sendto);
  if (!SharedRange::contains(from) && !SharedRange::contains(address))
    return call(fd, from, bytes, flags, address, size);
  InBytes own_address(address, std::min<size_t>(size, sizeof(sockaddr_storage)));
  auto once = [&](const void* own, size_t n, size_t) {
    return call(fd, own, n, flags, static_cast<const sockaddr*>(own_address.get()), size);
  };
  return SharedRange::contains(from) ? deliver(from, bytes, once) : once(from, bytes, 0);
}

ssize_t sendfile(int to, int from, off_t* offset, size_t bytes) noexcept {
  if (refuses_elsewhere("sendfile", to, from)) return -1;
  InOut<off_t> own(offset);
  return own.done(next<"sendfile">(::sendfile)(to, from, own.get(), bytes));
}

ssize_t getrandom(void* to, size_t bytes, unsigned flags) {
  auto* call = next<"getrandom">(::getrandom);
  if (!SharedRange::contains(to)) return call(to, bytes, flags);
  return receive(-1, to, bytes, [=](void* own, size_t n, size_t) { return call(own, n, flags); });
}

}  // extern "C"
#pragma GCC visibility pop
