#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bootstrap/job_map.h"

namespace terrane::tools {

// A host as the user named it, and how many nodes it has room for.
struct HostSlots {
  std::string name;
  std::uint32_t slots = 1;

  bool operator==(const HostSlots&) const = default;
};

// Reads the value of -H, "a,b:2,c": a host named twice has the slots of both, in its first place.
// `option`: its name, for messages.
base::Result<std::vector<HostSlots>> parse_host_list(std::string_view text,
                                                     std::string_view option = "-H");

// Reads a hostfile as Open MPI writes it: a host a line, "name slots=N" ("max_slots=N" is read and
// means nothing here; "name:N" is understood, too), comments from #. `file` is for messages, which
// name file and line.
base::Result<std::vector<HostSlots>> parse_host_file(std::string_view text,
                                                     const std::string& file);

// Reads what Slurm tells of an allocation's slots, "2(x3),1": 2, 2, 2, 1. Empty: it is not that.
std::vector<std::uint32_t> parse_slurm_counts(std::string_view text);

enum class MapBy {
  kSlot,  // a host's slots are filled before the next host's
  kNode,  // one node on each host in turn
};

// Where the nodes go; hosts that get none are left out. With more nodes than slots, the rest goes
// round once more in the same way.
bootstrap::JobMap place_nodes(const std::vector<HostSlots>& hosts, std::uint32_t nodes, MapBy by);

// Letters, digits and what else occurs in names and addresses of hosts.
bool is_host_name(std::string_view name);

std::uint32_t total_slots(const std::vector<HostSlots>& hosts);

}  // namespace terrane::tools
