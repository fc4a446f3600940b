#include "transport/shm/card.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/own_process.h"

namespace terrane::transport::shm {
namespace {

constexpr std::uint32_t kVersion = 2;

struct Fixed {
  std::uint32_t version;
  std::uint32_t pid;
  std::uint64_t pid_namespace;
  std::uint64_t ring_bytes;
  std::uint32_t nodes;
  std::uint32_t regions;
  std::uint64_t bells;  // 0 or 1
};
static_assert(sizeof(Fixed) == 40);

std::uint64_t this_pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace

base::Result<ShmCard> ShmCard::of_this_process(AreaShape shape, UniqueFd area,
                                               std::span<const ExportedRegion> regions) {
  ShmCard card;
  card.pid = static_cast<std::uint32_t>(base::own_process());
  card.pid_namespace = this_pid_namespace();
  card.shape = shape;
  card.area = std::move(area);
  for (const ExportedRegion& region : regions) {
    UniqueFd copy(::fcntl(region.fd, F_DUPFD_CLOEXEC, 0));
    if (!copy) return base::errno_error("shm: an exported region's descriptor");
    card.regions.push_back({std::move(copy), region.bytes});
  }
  return card;
}

Card ShmCard::encode() && {
  Fixed fixed{kVersion,         pid,         pid_namespace,
              shape.ring_bytes, shape.nodes, static_cast<std::uint32_t>(regions.size()),
              bell ? 1u : 0u};
  Card card;
  card.bytes.resize(sizeof fixed + regions.size() * sizeof(std::uint64_t));
  std::byte* out = card.bytes.data();
  std::memcpy(out, &fixed, sizeof fixed);
  out += sizeof fixed;
  card.fds.push_back(area.release());
  if (bell) card.fds.push_back(bell.release());
  for (Region& region : regions) {
    std::memcpy(out, &region.bytes, sizeof region.bytes);
    out += sizeof region.bytes;
    card.fds.push_back(region.fd.release());
  }
  return card;
}

base::Result<ShmCard> ShmCard::decode(Card card) {
  std::vector<UniqueFd> fds;
  for (int fd : card.fds) fds.emplace_back(fd);
  Fixed fixed{};
  if (card.bytes.size() < sizeof fixed) return base::error("{} bytes only", card.bytes.size());
  std::memcpy(&fixed, card.bytes.data(), sizeof fixed);
  if (fixed.version != kVersion) {
    return base::error("version {} instead of {}: all nodes must run the same Terrane",
                       fixed.version, kVersion);
  }
  if (fixed.bells > 1 || fds.size() != 1 + fixed.bells + fixed.regions ||
      card.bytes.size() != sizeof fixed + fixed.regions * sizeof(std::uint64_t)) {
    return base::error("{} regions, {} descriptors and {} bytes do not fit together", fixed.regions,
                       fds.size(), card.bytes.size());
  }
  ShmCard decoded;
  decoded.pid = fixed.pid;
  decoded.pid_namespace = fixed.pid_namespace;
  decoded.shape = {fixed.nodes, fixed.ring_bytes};
  decoded.area = std::move(fds[0]);
  if (fixed.bells != 0) decoded.bell = std::move(fds[1]);
  for (std::uint32_t i = 0; i < fixed.regions; ++i) {
    Region region{std::move(fds[1 + fixed.bells + i]), 0};
    std::memcpy(&region.bytes, card.bytes.data() + sizeof fixed + i * sizeof region.bytes,
                sizeof region.bytes);
    decoded.regions.push_back(std::move(region));
  }
  return decoded;
}

}  // namespace terrane::transport::shm
