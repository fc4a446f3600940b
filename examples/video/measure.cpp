#include "measure.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace video {
namespace {

using Number = unsigned long long;

// The largest share of memory so far: resident pages, those of other processes too (VmHWM).
std::uint64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void WorkerTally::print(int worker) const {
  char host[64] = "?";
  ::gethostname(host, sizeof host - 1);
  std::printf("row=worker index=%d host=%s frames=%llu processing_ns=%llu waiting_ns=%llu\n",
              worker, host, static_cast<Number>(frames_), static_cast<Number>(processing_ns_),
              static_cast<Number>(waiting_ns_));
  std::fflush(stdout);
}

void ProcessTally::begin() {
  begin_ns_ = now_ns();
  begin_cpu_ns_ = cpu_ns();
}

void ProcessTally::end() {
  end_ns_ = now_ns();
  cpu_used_ns_ = cpu_ns() - begin_cpu_ns_;
}

void ProcessTally::print(const char* role) const {
  std::printf(
      "row=process role=%s begin_ns=%llu end_ns=%llu cpu_ns=%llu messages=%llu bytes=%llu "
      "peak=%llu\n",
      role, static_cast<Number>(begin_ns_), static_cast<Number>(end_ns_),
      static_cast<Number>(cpu_used_ns_), static_cast<Number>(messages_),
      static_cast<Number>(bytes_), static_cast<Number>(peak_bytes()));
  std::fflush(stdout);
}

}  // namespace video
