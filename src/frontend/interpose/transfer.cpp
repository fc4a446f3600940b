#include "frontend/interpose/transfer.h"

#include <sys/stat.h>

#include "frontend/interpose/next.h"

namespace terrane::frontend {

bool is_regular_file(int fd) {
  ForKernel<struct stat> status;
  return next<"fstat">(::fstat)(fd, status.get()) == 0 && S_ISREG(status->st_mode);
}

bool Gathered::needed(const iovec* vector, int count) {
  if (!SharedRange::exists()) return false;
  if (SharedRange::contains(vector)) return true;
  for (int i = 0; i < std::min(count, kMostBuffers); ++i) {
    if (SharedRange::contains(vector[i].iov_base)) return true;
  }
  return false;
}

Gathered::Gathered(const iovec* vector, int count)
    : count_(count), bounce_([&] {
        int before = errno;
        bool valid = count >= 0 && count <= kMostBuffers;
        errno = EINVAL;
        if (!valid) return std::size_t{0};
        ok_ = platform::guarded_copy(vector_, vector,
                                     static_cast<std::size_t>(count) * sizeof *vector);
        errno = EFAULT;
        if (ok_) errno = before;
        return ok_ ? std::max(total(), std::size_t{1}) : 0;
      }()) {
  if (!ok_) return;
  ok_ = bounce_.data() != nullptr;
  *all_ = {bounce_.data(), total()};
}

std::size_t Gathered::total() {
  std::size_t bytes = 0;
  for (int i = 0; i < count_; ++i) bytes += std::min(vector_[i].iov_len, kMostBytes - bytes);
  return bytes;
}

template <typename Move>
bool Gathered::walk(std::size_t bytes, Move move) {
  std::byte* at = bounce_.data();
  for (int i = 0; i < count_ && bytes > 0; ++i) {
    std::size_t part = std::min(vector_[i].iov_len, bytes);
    if (!move(vector_[i].iov_base, at, part)) {
      errno = EFAULT;
      return false;
    }
    at += part;
    bytes -= part;
  }
  return true;
}

bool Gathered::collect() {
  return walk(all_->iov_len, [](const void* program, std::byte* own, std::size_t bytes) {
    return platform::guarded_copy(own, program, bytes);
  });
}

bool Gathered::spread(std::size_t bytes) {
  return walk(std::min(bytes, all_->iov_len), [](void* program, std::byte* own, std::size_t count) {
    return platform::guarded_copy(program, own, count);
  });
}

}  // namespace terrane::frontend
