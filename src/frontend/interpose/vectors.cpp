// Calls with lists of buffers: readv(2), preadv(2), recvmsg(2) and those that write.
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/transfer.h"

using namespace terrane::frontend;

namespace {

// call(list, count) is the system call on a list of buffers.
template <typename Call>
ssize_t read_list(const iovec* list, int count, Call call) {
  if (!Gathered::needed(list, count)) return call(list, count);
  Gathered all(list, count);
  if (!all.ok()) return -1;
  ssize_t got = call(all.list(), 1);
  if (got > 0 && !all.spread(static_cast<std::size_t>(got))) return -1;
  return got;
}

template <typename Call>
ssize_t write_list(const iovec* list, int count, Call call) {
  if (!Gathered::needed(list, count)) return call(list, count);
  Gathered all(list, count);
  if (!all.ok() || !all.collect()) return -1;
  return call(all.list(), 1);
}

// The buffers one after the other, on the node of the descriptor: move(buffer, bytes, done) is a
// call on one of them. As far as all of one is moved.
template <typename Move>
ssize_t each_elsewhere(const iovec* list, int count, Move move) {
  ssize_t done = 0;
  for (int i = 0; i < count; ++i) {
    ssize_t moved = move(list[i].iov_base, list[i].iov_len, done);
    if (moved < 0) return done > 0 ? done : -1;
    done += moved;
    if (static_cast<std::size_t>(moved) < list[i].iov_len) break;
  }
  return done;
}

// Whether any part of a message lies in shared memory.
bool is_shared(const msghdr* message) {
  if (!SharedRange::exists()) return false;
  return SharedRange::contains(message) || SharedRange::contains(message->msg_name) ||
         SharedRange::contains(message->msg_control) ||
         Gathered::needed(message->msg_iov, static_cast<int>(message->msg_iovlen));
}

// Descriptors that a message has brought get numbers that say their node. The call's result.
ssize_t adopted(msghdr& message, ssize_t result) {
  if (result < 0 || Elsewhere::get() == nullptr) return result;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    auto* files = reinterpret_cast<int*>(CMSG_DATA(one));
    std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) files[i] = adopt(files[i]);
  }
  return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t readv(int fd, const iovec* list, int count) {
  if (is_elsewhere(fd))
    return each_elsewhere(list, count,
                          [=](void* to, size_t bytes, ssize_t) { return read(fd, to, bytes); });
  auto call = cancellable_next<"readv">(::readv);
  return read_list(list, count, [=](const iovec* l, int n) { return call(fd, l, n); });
}

ssize_t preadv(int fd, const iovec* list, int count, off_t offset) {
  if (is_elsewhere(fd))
    return each_elsewhere(list, count, [=](void* to, size_t n, ssize_t done) {
      return pread(fd, to, n, offset + done);
    });
  auto* call = next<"preadv">(::preadv);
  return read_list(list, count, [=](const iovec* l, int n) { return call(fd, l, n, offset); });
}

ssize_t preadv2(int fd, const iovec* list, int count, off_t offset, int flags) {
  if (is_elsewhere(fd) && flags == 0)
    return offset == -1 ? readv(fd, list, count) : preadv(fd, list, count, offset);
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("preadv2", fd);
  auto* call = next<"preadv2">(::preadv2);
  return read_list(list, count,
                   [=](const iovec* l, int n) { return call(fd, l, n, offset, flags); });
}

ssize_t writev(int fd, const iovec* list, int count) {
  if (is_elsewhere(fd))
    return each_elsewhere(
        list, count, [=](void* from, size_t bytes, ssize_t) { return write(fd, from, bytes); });
  auto call = cancellable_next<"writev">(::writev);
  return write_list(list, count, [=](const iovec* l, int n) { return call(fd, l, n); });
}

ssize_t pwritev(int fd, const iovec* list, int count, off_t offset) {
  if (is_elsewhere(fd))
    return each_elsewhere(list, count, [=](void* from, size_t n, ssize_t done) {
      return pwrite(fd, from, n, offset + done);
    });
  auto* call = next<"pwritev">(::pwritev);
  return write_list(list, count, [=](const iovec* l, int n) { return call(fd, l, n, offset); });
}

ssize_t pwritev2(int fd, const iovec* list, int count, off_t offset, int flags) {
  if (is_elsewhere(fd) && flags == 0)
    return offset == -1 ? writev(fd, list, count) : pwritev(fd, list, count, offset);
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("pwritev2", fd);
  auto* call = next<"pwritev2">(::pwritev2);
  return write_list(list, count,
                    [=](const iovec* l, int n) { return call(fd, l, n, offset, flags); });
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  if (is_elsewhere(fd))
    return cancellable([&] { return call_elsewhere(fd, ::recvmsg, fd, message, flags); });
  auto call = cancellable_next<"recvmsg">(::recvmsg);
  if (!is_shared(message)) return adopted(*message, call(fd, message, flags));
  msghdr own = *message;
  OutBytes name(own.msg_name, own.msg_namelen);
  OutBytes control(own.msg_control, own.msg_controllen);
  ForKernel<msghdr> got;
  *got = own;
  got->msg_name = name.get();
  got->msg_control = control.get();
  ssize_t result = read_list(own.msg_iov, static_cast<int>(own.msg_iovlen), [&](auto* list, int n) {
    got->msg_iov = const_cast<iovec*>(list);
    got->msg_iovlen = static_cast<size_t>(n);
    return call(fd, got.get(), flags);
  });
  if (result < 0) return result;
  result = name.done(result, std::min(own.msg_namelen, got->msg_namelen));
  result = control.done(result, std::min(own.msg_controllen, got->msg_controllen));
  message->msg_namelen = got->msg_namelen;
  message->msg_controllen = got->msg_controllen;
  message->msg_flags = got->msg_flags;
  return adopted(*message, result);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if (is_elsewhere(fd) && message->msg_controllen != 0)
    return Elsewhere::get()->refuse("sendmsg with control data", fd);
  if (is_elsewhere(fd))
    return cancellable([&] { return call_elsewhere(fd, ::sendmsg, fd, message, flags); });
  auto call = cancellable_next<"sendmsg">(::sendmsg);
  if (!is_shared(message)) return call(fd, message, flags);
  ForKernel<msghdr> own;
  *own = *message;
  InBytes name(own->msg_name, own->msg_namelen);
  InBytes control(own->msg_control, own->msg_controllen);
  own->msg_name = const_cast<void*>(name.get());
  own->msg_control = const_cast<void*>(control.get());
  return write_list(own->msg_iov, static_cast<int>(own->msg_iovlen), [&](auto* list, int n) {
    own->msg_iov = const_cast<iovec*>(list);
    own->msg_iovlen = static_cast<size_t>(n);
    return call(fd, own.get(), flags);
  });
}

}  // extern "C"
#pragma GCC visibility pop
