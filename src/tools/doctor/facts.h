#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/fault_source.h"

namespace terrane::tools {

// A resource limit; nullopt: none.
using Limit = std::optional<std::uint64_t>;

struct KernelFacts {
  std::string release;  // "6.18.5"
  std::string machine;  // "x86_64"
  platform::FaultSourceSupport faults;
  bool call_denied = false;                     // the call userfaultfd fails with EPERM
  bool seccomp_filter = false;                  // this process is under one
  std::optional<int> unprivileged_userfaultfd;  // vm.unprivileged_userfaultfd
  bool pidfd = true;                            // processes can be named by descriptors
  bool proc = true;                             // /proc is mounted
  std::uint64_t max_map_count = 0;
  std::string clock_source;  // "tsc"; empty: not known
};

struct ProcessorFacts {
  std::uint32_t online = 0;
  std::uint32_t usable = 0;     // by this process (its affinity)
  std::uint32_t cores = 0;      // of those online; 0: not known
  std::optional<double> quota;  // of a control group, in processors
};

struct MemoryFacts {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
  std::uint64_t swap_bytes = 0;
  Limit job_bytes;                              // that a job could hold on this host
  Limit group_bytes;                            // of a control group
  std::optional<std::uint64_t> shm_free_bytes;  // of /dev/shm
  int overcommit = 0;                           // vm.overcommit_memory
  std::string huge_shared_pages;                // the chosen word of shmem_enabled
};

struct LimitFacts {
  bool root = false;
  Limit files_soft, files_hard, processes, address_space, locked_memory;
  std::uint32_t nodes = 0;  // that terrane run can start here
  std::string nodes_reason;
  std::uint64_t space_bytes = 0;  // of addresses that a job of one wants
};

struct InterfaceFacts {
  std::string name;
  std::string address;  // "10.0.0.7"
  bool up = false;
  bool loopback = false;
  std::uint32_t mtu = 0;
};

// A library that is loaded when it is needed.
struct LibraryFacts {
  bool found = false;
  std::string version;
  std::vector<std::string> modules;
};

struct SoftwareFacts {
  LibraryFacts ucx, pmix;
  bool ucx_is_guarded = false;             // strangers are kept from its sockets
  std::string srun, mpirun, prterun, ssh;  // where they are; empty: not in PATH
  std::string slurm_job;                   // SLURM_JOB_ID
  std::string slurm_nodes;                 // SLURM_JOB_NUM_NODES
};

// Where this command is, and how it came there.
struct InstallationFacts {
  std::string version;
  std::string folder;       // the prefix of the installation, or the build tree
  std::string package;      // "Debian package"; empty: no package manager installed it
  bool build_tree = false;  // as compiled, not installed
  std::string other;        // another `terrane` that PATH finds; empty: none
};

// What `terrane doctor` looks at on this host.
struct HostFacts {
  std::string host;
  InstallationFacts installation;
  KernelFacts kernel;
  ProcessorFacts processors;
  MemoryFacts memory;
  LimitFacts limits;
  std::vector<InterfaceFacts> interfaces;
  std::string chosen_interfaces;  // for messages to other hosts; empty: none
  std::string why_chosen;         // part of a sentence
  SoftwareFacts software;
};

// Looks; takes some milliseconds. What cannot be found out stays as it is above.
HostFacts gather_facts();

}  // namespace terrane::tools
