#include <fmt/format.h>

#include "tools/doctor/checks.h"

namespace terrane::tools {
namespace {

// Protections that alternate from page to page split mappings: 32 Ki pages fill the kernel's own
// limit.
constexpr std::uint64_t kEnoughMaps = 1u << 20;

std::string why_denied(const KernelFacts& kernel) {
  if (kernel.seccomp_filter) {
    return "a container's seccomp filter denies the system call userfaultfd";
  }
  if (kernel.unprivileged_userfaultfd == 0) {
    return "userfaultfd is denied although vm.unprivileged_userfaultfd = 0 allows faults of user "
           "mode; a security module may forbid it";
  }
  return "userfaultfd is denied";
}

std::string remedy_of_denial(const KernelFacts& kernel) {
  if (kernel.seccomp_filter) return "docker run --security-opt seccomp=unconfined ...";
  return "chmod a+rw /dev/userfaultfd";
}

void check_map_count(const KernelFacts& kernel, Findings& out) {
  bool splits = !kernel.faults.userfaultfd;
  bool few = kernel.max_map_count < kEnoughMaps;
  std::string text = fmt::format("a process may have {} mappings", kernel.max_map_count);
  if (!splits) {
    out.push_back({Level::kOk, "mappings", text});
  } else if (!few) {
    out.push_back({Level::kOk, "mappings", text + ", enough for the fault source sigsegv"});
  } else {
    out.push_back({Level::kNote, "mappings",
                   text + ", which bounds the pages that the fault source sigsegv can keep apart",
                   fmt::format("sysctl -w vm.max_map_count={}", kEnoughMaps)});
  }
}

}  // namespace

void check_page_faults(const KernelFacts& kernel, Findings& out) {
  const platform::FaultSourceSupport& faults = kernel.faults;
  if (faults.async_protect) {
    out.push_back({Level::kOk, "page faults", "userfaultfd, writes found by the kernel"});
  } else if (faults.userfaultfd) {
    out.push_back({Level::kNote, "page faults",
                   fmt::format("userfaultfd as {}; {}",
                               faults.enter_protected ? "uffd-sync" : "uffd-late", faults.reason),
                   "run Linux 6.7 or later"});
  } else if (kernel.call_denied) {
    out.push_back({Level::kNote, "page faults",
                   why_denied(kernel) + "; sigsegv serves instead, at about twice the cost",
                   remedy_of_denial(kernel)});
  } else {
    out.push_back({Level::kNote, "page faults",
                   faults.reason + "; sigsegv serves instead, at about twice the cost",
                   "run Linux 6.7 or later"});
  }
  check_map_count(kernel, out);
}

void check_kernel(const KernelFacts& kernel, Findings& out) {
  if (kernel.machine == "x86_64") {
    out.push_back({Level::kOk, "kernel", fmt::format("Linux {} on x86_64", kernel.release)});
  } else {
    out.push_back(
        {Level::kProblem, "kernel",
         fmt::format("Linux {} on {}: only x86_64 is supported", kernel.release, kernel.machine)});
  }
  if (!kernel.proc) {
    out.push_back({Level::kProblem, "/proc", "it is not mounted", "mount -t proc proc /proc"});
  }
  if (!kernel.pidfd) {
    out.push_back({Level::kProblem, "pidfd_open",
                   "processes cannot be watched by descriptors: Linux before 5.3, or a seccomp "
                   "filter",
                   "docker run --security-opt seccomp=unconfined ..."});
  }
  bool slow = kernel.clock_source == "hpet" || kernel.clock_source == "acpi_pm" ||
              kernel.clock_source == "jiffies";
  if (slow) {
    out.push_back({Level::kNote, "clock",
                   fmt::format("the clock {} takes about a microsecond to read, and waiting reads "
                               "it often",
                               kernel.clock_source),
                   "boot with clocksource=tsc where the processor allows it"});
  } else {
    out.push_back({Level::kOk, "clock",
                   kernel.clock_source.empty() ? "its source is not known" : kernel.clock_source});
  }
}

void check_processors(const ProcessorFacts& processors, Findings& out) {
  std::string text = fmt::format("{} online", processors.online);
  if (processors.cores != 0 && processors.cores != processors.online) {
    text += fmt::format(" on {} cores", processors.cores);
  }
  if (processors.usable < processors.online) {
    text += fmt::format(", {} usable by this process", processors.usable);
  }
  if (processors.quota && *processors.quota < processors.usable) {
    out.push_back(
        {Level::kNote, "processors",
         fmt::format("{}; the control group allows {:.3g} of them at a time: threads that "
                     "wait for each other are stopped in turn",
                     text, *processors.quota),
         "raise cpu.max of the control group (docker run --cpus N)"});
    return;
  }
  text += fmt::format("; beyond {} threads (nodes x threads of each) they take turns",
                      processors.usable);
  out.push_back({Level::kOk, "processors", text});
}

}  // namespace terrane::tools
