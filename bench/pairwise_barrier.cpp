#include "pairwise_barrier.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>

#include "platform/wait.h"

namespace terrane::bench {
namespace {

constexpr std::size_t kBytes = 4096;

}  // namespace

struct alignas(128) PairwiseBarrier::Line {
  std::atomic<std::uint32_t> round;
};

PairwiseBarrier::Line& PairwiseBarrier::line(int of) const {
  return reinterpret_cast<Line*>(lines_.data())[of];
}

base::Result<PairwiseBarrier> PairwiseBarrier::create() {
  int fd = ::memfd_create("bench-barrier", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ::ftruncate(fd, kBytes) != 0 || ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return base::errno_error("a page to meet at");
  }
  auto lines = platform::SharedMapping::map(fd, kBytes);
  if (!lines) return lines.error();
  return PairwiseBarrier(std::move(lines).value(), fd, 0);
}

base::Result<PairwiseBarrier> PairwiseBarrier::join(pid_t creator, int fd) {
  std::string path = "/proc/" + std::to_string(creator) + "/fd/" + std::to_string(fd);
  int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) return base::errno_error("the page to meet at");
  auto lines = platform::SharedMapping::map(own, kBytes);
  ::close(own);
  if (!lines) return lines.error();
  return PairwiseBarrier(std::move(lines).value(), -1, 1);
}

double PairwiseBarrier::meet(std::uint32_t times) {
  std::uint64_t from = platform::now_ns();
  for (std::uint32_t time = 0; time < times; ++time) {
    ++round_;
    line(self_).round.store(round_, std::memory_order_release);
    const std::atomic<std::uint32_t>& other = line(1 - self_).round;
    // Gives up the processor only when the peer has clearly lost its own.
    for (std::uint32_t looks = 1; other.load(std::memory_order_acquire) < round_; ++looks) {
      if (looks % 4096 == 0) ::sched_yield();
    }
  }
  return static_cast<double>(platform::now_ns() - from) / times;
}

}  // namespace terrane::bench
