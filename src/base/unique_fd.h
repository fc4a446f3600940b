#pragma once

#include <unistd.h>

#include <utility>

#include "base/descriptor_watch.h"

namespace terrane::base {

// Owns one descriptor (or none, -1) and closes it.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) { own_descriptor(fd); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    give_up_descriptor(fd_);
    return std::exchange(fd_, -1);
  }
  void reset(int fd = -1) {
    give_up_descriptor(fd_);
    if (fd_ >= 0) ::close(fd_);
    own_descriptor(fd);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace terrane::base
