#pragma once

#include <cstdint>
#include <string>

namespace terrane::faults {

constexpr std::uint32_t kNodes = 4;

enum class Kind {
  kKillNode,
  kStopNode,
  kKillFront,
  kKillEngine,  // the one below the front, which is the hub
  kStopEngine,
  kKillRemoteEngine,  // of another host
  kStopRemoteEngine,
  kKillLogin,    // the front's ssh to another host
  kCutLink,      // the interface loses its carrier
  kSilenceLink,  // nothing arrives, and nothing is reported
  kHostDies,
  kFilesShort,   // of one node, from the start
  kMemoryShort,  // of one node, some time
  kFullFolders,  // /dev/shm and /tmp of a host, from the start; then a node is killed
};
constexpr std::uint32_t kKinds = 14;

// What happens to one job; everything follows from the seed.
struct Fault {
  std::uint64_t seed;
  Kind kind;
  std::uint32_t hosts;   // 1 to 4; the nodes are spread over them
  std::uint32_t victim;  // a node, or a host, by the kind
  bool early;            // counted from the start of the job, not from its first barriers
  std::uint32_t after_ms;

  // Of kHostDies and of kRemote...: never h0, where the front runs.
  std::uint32_t host_of(std::uint32_t node) const { return node * hosts / kNodes; }
};

Fault fault_of(std::uint64_t seed);
const char* name_of(Kind kind);
std::string describe(const Fault& fault);

}  // namespace terrane::faults
