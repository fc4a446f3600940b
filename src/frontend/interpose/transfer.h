#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "frontend/interpose/bounce.h"
#include "frontend/interpose/for_kernel.h"
#include "frontend/interpose/shared_range.h"
#include "platform/guarded_copy.h"

// Calls that move bytes between the kernel and shared memory. The kernel works on a private buffer,
// and the bytes go between that and shared memory by plain loads and stores, whose faults are
// served like all others. So no page need be present, or stay present, while a call waits, and
// nothing that the kernel has given away (a datagram, bytes of a pipe) can be lost to EFAULT.
namespace terrane::frontend {

// Reads of a regular file go in steps that stay in the processor's cache.
bool is_regular_file(int fd);

inline constexpr std::size_t kReadStep = Bounce::kKeptBytes;
inline constexpr std::size_t kWriteStep = std::size_t{16} << 20;
inline constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of one call

// call(buffer, bytes, done) reads into a private buffer, `done` bytes after the start, and returns
// what read() does. One call, but for large reads of regular files.
template <typename Call>
ssize_t receive(int fd, void* to, std::size_t bytes, Call call) {
  if (bytes == 0) return call(to, 0, 0);
  bytes = std::min(bytes, kMostBytes);
  std::size_t step = bytes > kReadStep && is_regular_file(fd) ? kReadStep : bytes;
  Bounce bounce(step);
  if (bounce.data() == nullptr) return -1;
  std::size_t done = 0;
  for (;;) {
    std::size_t asked = std::min(step, bytes - done);
    ssize_t got = call(static_cast<void*>(bounce.data()), asked, done);
    if (got < 0) return done > 0 ? static_cast<ssize_t>(done) : -1;
    std::size_t stored = std::min(static_cast<std::size_t>(got), asked);  // MSG_TRUNC tells of more
    if (!platform::guarded_copy(static_cast<std::byte*>(to) + done, bounce.data(), stored)) {
      errno = EFAULT;
      return done > 0 ? static_cast<ssize_t>(done) : -1;
    }
    done += static_cast<std::size_t>(got);
    if (stored < asked || done >= bytes) return static_cast<ssize_t>(done);
  }
}

// call(buffer, bytes, done) writes from a private buffer and returns what write() does. One call
// for up to kWriteStep bytes; then another as long as all was taken.
template <typename Call>
ssize_t deliver(const void* from, std::size_t bytes, Call call) {
  if (bytes == 0) return call(from, 0, 0);
  bytes = std::min(bytes, kMostBytes);
  std::size_t step = std::min(bytes, kWriteStep);
  Bounce bounce(step);
  if (bounce.data() == nullptr) return -1;
  std::size_t done = 0;
  for (;;) {
    std::size_t asked = std::min(step, bytes - done);
    ssize_t taken = -1;
    if (platform::guarded_copy(bounce.data(), static_cast<const std::byte*>(from) + done, asked)) {
      taken = call(static_cast<const void*>(bounce.data()), asked, done);
    } else {
      errno = EFAULT;
    }
    if (taken < 0) return done > 0 ? static_cast<ssize_t>(done) : -1;
    done += static_cast<std::size_t>(taken);
    if (static_cast<std::size_t>(taken) < asked || done >= bytes) return static_cast<ssize_t>(done);
  }
}

// A list of buffers, of which some lie in shared memory (or the list itself does), as one private
// buffer. Owns that buffer.
class Gathered {
 public:
  // Whether the call needs this at all.
  static bool needed(const iovec* vector, int count);

  Gathered(const iovec* vector, int count);
  // False: errno says why (EINVAL, EFAULT, ENOMEM).
  bool ok() const { return ok_; }
  // The private buffer, as a list of one.
  const iovec* list() const { return all_.get(); }
  // Before a call that writes: collects the bytes. After one that reads: spreads the first `bytes`.
  // False: EFAULT.
  bool collect();
  bool spread(std::size_t bytes);

 private:
  static constexpr int kMostBuffers = 1024;  // IOV_MAX

  template <typename Move>
  bool walk(std::size_t bytes, Move move);
  std::size_t total();

  int count_;
  iovec vector_[kMostBuffers];
  bool ok_ = false;
  Bounce bounce_;
  ForKernel<iovec> all_;
};

}  // namespace terrane::frontend
