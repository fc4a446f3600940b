#include "tools/launch/slurm.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxListBytes = 1u << 20;

struct ClosePipe {
  void operator()(FILE* pipe) const { ::pclose(pipe); }
};

// One name a line; scontrol takes the list from SLURM_JOB_NODELIST.
std::string expanded_list() {
  std::unique_ptr<FILE, ClosePipe> pipe(::popen("scontrol show hostnames 2>/dev/null", "re"));
  std::string text;
  char part[4096];
  while (pipe && text.size() < kMaxListBytes) {
    std::size_t got = std::fread(part, 1, sizeof part, pipe.get());
    if (got == 0) break;
    text.append(part, got);
  }
  return text;
}

}  // namespace

bool inside_slurm_allocation() {
  return std::getenv("SLURM_JOB_ID") != nullptr && std::getenv("SLURM_JOB_NODELIST") != nullptr;
}

base::Result<std::vector<HostSlots>> slurm_hosts() {
  auto hosts = parse_host_file(expanded_list(), "scontrol show hostnames");
  if (!hosts) {
    return base::error("cannot learn the hosts of this Slurm allocation ({}); name them: -H a,b",
                       hosts.error().message);
  }
  const char* tasks = std::getenv("SLURM_TASKS_PER_NODE");
  std::vector<std::uint32_t> counts = parse_slurm_counts(tasks ? tasks : "");
  for (std::size_t i = 0; i < hosts.value().size() && i < counts.size(); ++i) {
    hosts.value()[i].slots = counts[i];
  }
  return hosts;
}

}  // namespace terrane::tools
