#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/doctor/checks.h"

namespace terrane::tools {
namespace {

void check_launchers(const SoftwareFacts& software, Findings& out) {
  bool allocated = !software.slurm_job.empty();
  if (allocated && software.srun.empty()) {
    out.push_back({Level::kProblem, "Slurm",
                   fmt::format("inside job {}, but srun is not in PATH", software.slurm_job),
                   "module load slurm, or terrane run --engine ssh"});
  } else if (allocated) {
    out.push_back(
        {Level::kOk, "Slurm",
         fmt::format("inside job {} on {} hosts; {} starts the nodes", software.slurm_job,
                     software.slurm_nodes.empty() ? "some" : software.slurm_nodes, software.srun)});
  } else if (software.srun.empty()) {
    out.push_back({Level::kOk, "Slurm", "not installed"});
  } else {
    out.push_back({Level::kOk, "Slurm",
                   software.srun + "; not inside an allocation (salloc, sbatch make one)"});
  }
  std::string mpi = fmt::format("{}{}{}", software.mpirun,
                                software.mpirun.empty() || software.prterun.empty() ? "" : ", ",
                                software.prterun);
  out.push_back({Level::kOk, "mpirun", mpi.empty() ? "not installed" : mpi});
  if (software.ssh.empty()) {
    out.push_back({Level::kNote, "ssh",
                   "not installed: other hosts can be reached by Slurm, mpirun "
                   "or --rsh COMMAND alone",
                   "apt-get install openssh-client"});
  } else {
    out.push_back({Level::kOk, "ssh", software.ssh});
  }
}

}  // namespace

void check_network(const HostFacts& facts, Findings& out) {
  bool reachable = false;
  for (const InterfaceFacts& interface : facts.interfaces) {
    bool unused = !interface.up && interface.address.empty();
    if (interface.loopback || unused) continue;
    std::string text =
        fmt::format("{}: {}, MTU {}, {}", interface.name,
                    interface.address.empty() ? "no IPv4 address" : interface.address,
                    interface.mtu, interface.up ? "up" : "down");
    reachable = reachable || (interface.up && !interface.address.empty());
    out.push_back({Level::kOk, "interface", std::move(text)});
  }
  if (!reachable) {
    out.push_back({Level::kNote, "network",
                   "no interface that is up has an address: jobs can run on this host alone"});
  } else {
    out.push_back({Level::kOk, "network",
                   fmt::format("messages to other hosts take {} ({}); UCX_NET_DEVICES names "
                               "others",
                               facts.chosen_interfaces, facts.why_chosen)});
  }
}

void check_software(const SoftwareFacts& software, Findings& out) {
  if (software.ucx.found && !software.ucx_is_guarded) {
    out.push_back({Level::kProblem, "UCX",
                   fmt::format("strangers cannot be kept from the sockets of UCX {}: jobs on "
                               "several hosts start with --encrypt alone",
                               software.ucx.version),
                   "terrane run --encrypt"});
  } else if (software.ucx.found) {
    out.push_back(
        {Level::kOk, "UCX",
         fmt::format("{}; tcp{}", software.ucx.version,
                     software.ucx.modules.empty()
                         ? ""
                         : fmt::format(", modules {}", fmt::join(software.ucx.modules, ", ")))});
  } else {
    out.push_back({Level::kNote, "UCX", "not installed: nodes on several hosts need it",
                   "apt-get install libucx0"});
  }
  if (software.pmix.found) {
    out.push_back({Level::kOk, "PMIx", software.pmix.version});
  } else {
    out.push_back({Level::kNote, "PMIx",
                   "not installed: programs started by mpirun or srun directly need it",
                   "apt-get install libpmix2"});
  }
  check_launchers(software, out);
}

}  // namespace terrane::tools
