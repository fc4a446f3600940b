// Calls that move bytes between files, pipes and processes, and those that move several messages.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <ctime>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/transfer.h"

using namespace terrane::frontend;

namespace {

bool reads(int fd) { return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY; }

// vmsplice(2) into a pipe: the pipe keeps the very pages that the call names, so they must be
// nobody's afterwards. That is what a mapping is that ends with the call.
ssize_t give_pages(int fd, Gathered& all, unsigned flags) {
  if (!all.collect()) return -1;
  std::size_t bytes = all.list()->iov_len;
  Bounce pages(std::max(bytes, Bounce::kKeptBytes + 1));
  if (pages.data() == nullptr) return -1;
  std::copy_n(static_cast<const std::byte*>(all.list()->iov_base), bytes, pages.data());
  ForKernel<iovec> own;
  *own = {pages.data(), bytes};
  return next<"vmsplice">(::vmsplice)(fd, own.get(), 1, flags);
}

// From this process's memory to its own.
ssize_t copy_within(const iovec* to, unsigned long to_count, const iovec* from,
                    unsigned long from_count) {
  Gathered source(from, static_cast<int>(from_count));
  if (!source.ok() || !source.collect()) return -1;
  Gathered target(to, static_cast<int>(to_count));
  if (!target.ok()) return -1;
  std::size_t bytes = std::min(source.list()->iov_len, target.list()->iov_len);
  std::copy_n(static_cast<const std::byte*>(source.list()->iov_base), bytes,
              static_cast<std::byte*>(target.list()->iov_base));
  return target.spread(bytes) ? static_cast<ssize_t>(bytes) : -1;
}

// Whether the call's lists touch shared memory; those of another process are that one's addresses.
bool needs_copies(pid_t process, const iovec* local, unsigned long local_count, const iovec* remote,
                  unsigned long remote_count) {
  if (Gathered::needed(local, static_cast<int>(local_count))) return true;
  return SharedRange::contains(remote) ||
         (process == getpid() && Gathered::needed(remote, static_cast<int>(remote_count)));
}

// One message after the other, as the kernel takes them. call(message, flags) is recvmsg or
// sendmsg; goes_on() says whether there is time for one more.
template <typename Call, typename GoesOn>
int each_message(mmsghdr* list, unsigned count, int flags, Call call, GoesOn goes_on) {
  unsigned done = 0;
  int later = (flags & MSG_WAITFORONE) != 0 ? MSG_DONTWAIT : 0;
  flags &= ~MSG_WAITFORONE;
  for (; done < count; ++done) {
    ssize_t bytes = call(&list[done].msg_hdr, flags | (done > 0 ? later : 0));
    if (bytes < 0) break;
    list[done].msg_len = static_cast<unsigned>(bytes);
    if (!goes_on()) return static_cast<int>(done + 1);
  }
  return done > 0 || count == 0 ? static_cast<int>(done) : -1;
}

bool is_shared(const mmsghdr* list, unsigned count) {
  if (!SharedRange::exists()) return false;
  for (unsigned i = 0; i < count; ++i) {
    const msghdr& message = list[i].msg_hdr;
    if (SharedRange::contains(&list[i]) || SharedRange::contains(message.msg_name) ||
        SharedRange::contains(message.msg_control) ||
        Gathered::needed(message.msg_iov, static_cast<int>(message.msg_iovlen)))
      return true;
  }
  return false;
}

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
               unsigned flags) {
  if (refuses_elsewhere("splice", from, to)) return -1;
  InOut<off64_t> own_from(from_offset), own_to(to_offset);
  auto* call = next<"splice">(::splice);
  return own_to.done(own_from.done(call(from, own_from.get(), to, own_to.get(), bytes, flags)));
}

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
                        unsigned flags) {
  if (refuses_elsewhere("copy_file_range", from, to)) return -1;
  InOut<off64_t> own_from(from_offset), own_to(to_offset);
  auto* call = next<"copy_file_range">(::copy_file_range);
  return own_to.done(own_from.done(call(from, own_from.get(), to, own_to.get(), bytes, flags)));
}

ssize_t vmsplice(int fd, const iovec* list, size_t count, unsigned flags) {
  if (refuses_elsewhere("vmsplice", fd, fd)) return -1;
  auto* call = next<"vmsplice">(::vmsplice);
  if (!Gathered::needed(list, static_cast<int>(count))) return call(fd, list, count, flags);
  Gathered all(list, static_cast<int>(count));
  if (!all.ok()) return -1;
  if (!reads(fd)) return give_pages(fd, all, flags);
  ssize_t got = call(fd, all.list(), 1, flags);
  if (got > 0 && !all.spread(static_cast<std::size_t>(got))) return -1;
  return got;
}

ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long local_count,
                         const iovec* remote, unsigned long remote_count,
                         unsigned long flags) noexcept {
  auto* call = next<"process_vm_readv">(::process_vm_readv);
  if (!needs_copies(process, local, local_count, remote, remote_count))
    return call(process, local, local_count, remote, remote_count, flags);
  if (process == getpid()) return copy_within(local, local_count, remote, remote_count);
  Gathered all(local, static_cast<int>(local_count));
  InBytes own_remote(remote, remote_count * sizeof *remote);
  if (!all.ok()) return -1;
  ssize_t got = call(process, all.list(), 1, static_cast<const iovec*>(own_remote.get()),
                     remote_count, flags);
  if (got > 0 && !all.spread(static_cast<std::size_t>(got))) return -1;
  return got;
}

ssize_t process_vm_writev(pid_t process, const iovec* local, unsigned long local_count,
                          const iovec* remote, unsigned long remote_count,
                          unsigned long flags) noexcept {
  auto* call = next<"process_vm_writev">(::process_vm_writev);
  if (!needs_copies(process, local, local_count, remote, remote_count))
    return call(process, local, local_count, remote, remote_count, flags);
  if (process == getpid()) return copy_within(remote, remote_count, local, local_count);
  Gathered all(local, static_cast<int>(local_count));
  InBytes own_remote(remote, remote_count * sizeof *remote);
  if (!all.ok() || !all.collect()) return -1;
  return call(process, all.list(), 1, static_cast<const iovec*>(own_remote.get()), remote_count,
              flags);
}

int recvmmsg(int fd, mmsghdr* list, unsigned count, int flags, timespec* timeout) {
  if (!is_shared(list, count) && !SharedRange::contains(timeout) && !is_elsewhere(fd))
    return next<"recvmmsg">(::recvmmsg)(fd, list, count, flags, timeout);
  std::int64_t until =
      timeout == nullptr
          ? 0
          : now_ns() + timeout->tv_sec * std::int64_t{1'000'000'000} + timeout->tv_nsec;
  return each_message(
      list, count, flags, [=](msghdr* message, int how) { return recvmsg(fd, message, how); },
      [=] { return timeout == nullptr || now_ns() < until; });
}

int sendmmsg(int fd, mmsghdr* list, unsigned count, int flags) {
  if (!is_shared(list, count) && !is_elsewhere(fd))
    return next<"sendmmsg">(::sendmmsg)(fd, list, count, flags);
  return each_message(
      list, count, flags, [=](msghdr* message, int how) { return sendmsg(fd, message, how); },
      [] { return true; });
}

}  // extern "C"
#pragma GCC visibility pop
