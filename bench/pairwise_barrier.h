#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "platform/mapping.h"

namespace terrane::bench {

// The bare barrier of two processes: each stores a round into a cache line of its own and looks at
// the other's. The floor of barriers on a host, for two processes that are there anyway, where they
// are: a process made for it would want a processor that neither leaves to it. Owns the lines.
class PairwiseBarrier {
 public:
  // One of the two, which tells the other its process and fd().
  static base::Result<PairwiseBarrier> create();
  static base::Result<PairwiseBarrier> join(pid_t creator, int fd);
  int fd() const { return fd_; }

  // Both at once: meets so many times; nanoseconds a time.
  double meet(std::uint32_t times);

 private:
  struct Line;

  PairwiseBarrier(platform::SharedMapping lines, int fd, int self)
      : lines_(std::move(lines)), fd_(fd), self_(self) {}
  Line& line(int of) const;

  platform::SharedMapping lines_;
  int fd_;    // the creator's, for as long as its process lives
  int self_;  // 0: the creator
  std::uint32_t round_ = 0;
};

}  // namespace terrane::bench
