#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "platform/cgroup_memory.h"
#include "platform/mapping.h"
#include "platform/memory_left.h"
#include "tools/doctor/gather.h"
#include "tools/doctor/system_text.h"
#include "tools/launch/host/limits.h"

namespace terrane::tools {
namespace {

// A line of /proc/meminfo, in bytes.
std::uint64_t meminfo(std::string_view label) {
  std::string word = labelled("/proc/meminfo", label).value_or("0");
  std::uint64_t kilobytes = 0;
  std::from_chars(word.data(), word.data() + word.size(), kilobytes);
  return kilobytes * 1024;
}

Limit limit_of(__rlimit_resource resource, bool hard) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return std::nullopt;
  rlim_t value = hard ? limit.rlim_max : limit.rlim_cur;
  return value == RLIM_INFINITY ? Limit() : Limit(value);
}

// As a job without --memory: seven eighths of what the machine and the control groups have left.
Limit memory_of_a_job() {
  std::uint64_t left = std::min(platform::memory_left_bytes(), platform::cgroup_memory_left());
  return left == ~std::uint64_t{0} ? Limit() : Limit(left - left / 8);
}

}  // namespace

MemoryFacts gather_memory() {
  MemoryFacts facts;
  facts.total_bytes = meminfo("MemTotal:");
  facts.available_bytes = meminfo("MemAvailable:");
  facts.swap_bytes = meminfo("SwapTotal:");
  facts.job_bytes = memory_of_a_job();
  facts.group_bytes = number_in("/sys/fs/cgroup/memory.max");
  struct statvfs shm {};
  if (::statvfs("/dev/shm", &shm) == 0) {
    facts.shm_free_bytes = std::uint64_t{shm.f_bavail} * shm.f_frsize;
  }
  facts.overcommit = static_cast<int>(number_in("/proc/sys/vm/overcommit_memory").value_or(0));
  facts.huge_shared_pages =
      chosen_word(first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled").value_or(""));
  return facts;
}

LimitFacts gather_limits() {
  LimitFacts facts;
  facts.root = ::geteuid() == 0;
  facts.files_soft = limit_of(RLIMIT_NOFILE, false);
  facts.files_hard = limit_of(RLIMIT_NOFILE, true);
  facts.processes = limit_of(RLIMIT_NPROC, false);
  facts.address_space = limit_of(RLIMIT_AS, false);
  facts.locked_memory = limit_of(RLIMIT_MEMLOCK, false);
  NodeLimit nodes = node_limit();
  facts.nodes = nodes.nodes;
  facts.nodes_reason = nodes.reason;
  facts.space_bytes = platform::default_space_layout().bytes;
  return facts;
}

}  // namespace terrane::tools
