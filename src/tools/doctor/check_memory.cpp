#include <fmt/format.h>

#include <algorithm>

#include "tools/doctor/checks.h"
#include "tools/doctor/rooms.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLittleMemory = 256 * kMiB;
constexpr std::uint64_t kFewFiles = 1024;

std::string limit_text(const Limit& limit) {
  return limit ? fmt::format("{}", *limit) : "unlimited";
}

void check_shm(const MemoryFacts& memory, Findings& out) {
  // Nothing of ours lies there, but UCX and MPI use it.
  if (!memory.shm_free_bytes) {
    out.push_back({Level::kNote, "/dev/shm",
                   "it is not mounted; Terrane does not use it, other libraries may",
                   "mount -t tmpfs tmpfs /dev/shm"});
    return;
  }
  out.push_back({Level::kOk, "/dev/shm",
                 size_text(*memory.shm_free_bytes) + " free; Terrane does not use it"});
}

// The setting of the whole machine for large pages of shared memory (decision 53).
void check_large_pages(const std::string& setting, Findings& out) {
  const char* cure = "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled";
  if (setting == "always" || setting == "within_size" || setting == "force") {
    out.push_back({Level::kNote, "huge pages",
                   fmt::format("the kernel gives large pages to shared memory unasked "
                               "(shmem_enabled is \"{}\"): shared pages stay small, but their "
                               "first touch costs more, and a first byte of a chunk or of "
                               "OpenSHMEM's heap may take 2 MiB",
                               setting),
                   cure});
  } else if (setting == "deny") {
    out.push_back({Level::kNote, "huge pages",
                   "the kernel gives no large pages to shared memory (shmem_enabled is \"deny\"): "
                   "chunks of 2 MiB and more cost more at their first touch",
                   cure});
  }
}

}  // namespace

void check_memory(const MemoryFacts& memory, Findings& out) {
  std::uint64_t available = memory.available_bytes;
  std::string text = fmt::format("{} available of {}, {} of swap", size_text(available),
                                 size_text(memory.total_bytes), size_text(memory.swap_bytes));
  if (memory.group_bytes && *memory.group_bytes < memory.total_bytes) {
    text += fmt::format("; the control group allows {}", size_text(*memory.group_bytes));
    available = std::min(available, *memory.group_bytes);
  }
  if (available < kLittleMemory) {
    out.push_back({Level::kNote, "memory", text + ": little for shared pages and their copies",
                   "terrane run --memory SIZE bounds what a node keeps"});
  } else {
    out.push_back({Level::kOk, "memory", text});
  }
  if (memory.job_bytes)
    out.push_back({Level::kOk, "job memory",
                   fmt::format("a job on this host alone could hold {}, on several hosts their sum "
                               "(terrane doctor -H h0,h1)",
                               size_text(*memory.job_bytes))});
  check_shm(memory, out);
  if (memory.overcommit == 2) {
    out.push_back({Level::kNote, "overcommit",
                   "vm.overcommit_memory = 2: the shared space counts as if all of it were used; a "
                   "smaller one may be needed",
                   "sysctl -w vm.overcommit_memory=0, or export TERRANE_SPACE=1G"});
  }
  check_large_pages(memory.huge_shared_pages, out);
}

void check_limits(const LimitFacts& limits, Findings& out) {
  out.push_back(
      {Level::kOk, "nodes here", fmt::format("up to {} ({})", limits.nodes, limits.nodes_reason)});
  std::string files = fmt::format("descriptors: {} (hard {})", limit_text(limits.files_soft),
                                  limit_text(limits.files_hard));
  if (limits.files_hard && *limits.files_hard < kFewFiles) {
    out.push_back(
        {Level::kNote, "limits", files + ": few nodes can be started", "ulimit -Hn 65536"});
  } else {
    out.push_back({Level::kOk, "limits", files});
  }
  if (!limits.root && limits.processes && *limits.processes < kFewFiles) {
    out.push_back({Level::kNote, "limits",
                   fmt::format("processes and threads: {}; a node has two threads of its own",
                               *limits.processes),
                   "ulimit -u 4096"});
  }
  if (limits.address_space && *limits.address_space < limits.space_bytes) {
    out.push_back({Level::kProblem, "limits",
                   fmt::format("a process may have {} of addresses, and the shared space wants {}",
                               size_text(*limits.address_space), size_text(limits.space_bytes)),
                   "ulimit -v unlimited, or export TERRANE_SPACE=1G"});
  }
  if (limits.locked_memory && *limits.locked_memory < 64 * kMiB) {
    out.push_back(
        {Level::kOk, "limits",
         fmt::format("locked memory: {}; only RDMA needs more", size_text(*limits.locked_memory))});
  }
}

}  // namespace terrane::tools
