#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/unique_fd.h"
#include "platform/map_count.h"
#include "tools/doctor/gather.h"
#include "tools/doctor/system_text.h"

namespace terrane::tools {
namespace {

constexpr int kUserModeOnly = 1;  // UFFD_USER_MODE_ONLY

bool userfaultfd_denied() {
  base::UniqueFd fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly)));
  return !fd && (errno == EPERM || errno == EACCES);
}

bool pidfd_works() {
  base::UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return static_cast<bool>(fd);
}

// Processors that share a core name each other in the same words.
std::uint32_t count_cores() {
  std::set<std::string> cores;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator("/sys/devices/system/cpu", ignored)) {
    auto siblings = first_line(entry.path() / "topology/thread_siblings_list");
    auto package = first_line(entry.path() / "topology/physical_package_id");
    if (siblings) cores.insert(package.value_or("") + ":" + *siblings);
  }
  return static_cast<std::uint32_t>(cores.size());
}

// "200000 100000" or "max 100000": microseconds in each period.
std::optional<double> processor_quota() {
  std::istringstream words(first_line("/sys/fs/cgroup/cpu.max").value_or(""));
  double quota_us = 0;
  double period_us = 0;
  if (!(words >> quota_us >> period_us) || period_us <= 0) return std::nullopt;
  return quota_us / period_us;
}

}  // namespace

KernelFacts gather_kernel() {
  KernelFacts facts;
  utsname system{};
  ::uname(&system);
  facts.release = system.release;
  facts.machine = system.machine;
  facts.faults = platform::probe_fault_sources();
  facts.call_denied = userfaultfd_denied();
  facts.seccomp_filter = labelled("/proc/self/status", "Seccomp:") == "2";
  if (auto number = number_in("/proc/sys/vm/unprivileged_userfaultfd")) {
    facts.unprivileged_userfaultfd = static_cast<int>(*number);
  }
  facts.pidfd = pidfd_works();
  facts.proc = first_line("/proc/self/status").has_value();
  facts.max_map_count = platform::max_map_count();
  facts.clock_source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("");
  return facts;
}

ProcessorFacts gather_processors() {
  ProcessorFacts facts;
  facts.online = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t usable;
  CPU_ZERO(&usable);
  facts.usable = ::sched_getaffinity(0, sizeof usable, &usable) == 0
                     ? static_cast<std::uint32_t>(CPU_COUNT(&usable))
                     : facts.online;
  facts.cores = count_cores();
  facts.quota = processor_quota();
  return facts;
}

}  // namespace terrane::tools
