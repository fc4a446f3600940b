#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "bootstrap/job_map.h"

// How nodes that another launcher started (mpirun, srun) come to their places. On each host the
// first node opens a *door*, a listening socket with a name in no folder, and starts an engine that
// serves it; every node of the host knocks there, proves that it knows the job's secret, and is
// given the socket of its place. From then on all is as with nodes that `terrane run` started.
namespace terrane::bootstrap {

// 128 random bits that only processes of the job know.
using JobSecret = std::array<std::byte, 16>;

base::Result<JobSecret> make_secret();
std::string to_text(const JobSecret& secret);
std::optional<JobSecret> secret_of(const std::string& text);
// In a time that tells nothing of where they differ.
bool same_secret(const JobSecret& secret, std::span<const std::byte> bytes);

// What an engine needs to know to take in the nodes of its host.
struct AdoptionOrder {
  JobMap map;
  std::uint32_t host = 0;  // which one of the map
  JobSecret secret{};
  std::string hub;  // as the engine of host 0 answered (kReady); empty for that one

  bool operator==(const AdoptionOrder&) const = default;
};

std::vector<std::byte> encode_order(const AdoptionOrder& order);
std::optional<AdoptionOrder> decode_order(std::span<const std::byte> bytes);

struct Door {
  base::UniqueFd socket;  // listens
  std::string name;       // without the leading zero byte
};

base::Result<Door> open_door();

// The socket of the node's place, to be claimed (local_bootstrap.h). Blocks until the engine that
// serves the door answers; fails where it refuses, has gone, or is another user's.
base::Result<base::UniqueFd> knock(const std::string& door, NodeId node, const JobSecret& secret);

}  // namespace terrane::bootstrap
