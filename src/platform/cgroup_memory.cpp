#include "platform/cgroup_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>

namespace terrane::platform {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// The number that a file holds; nullopt where there is no such file, or it says "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

// Of memory.stat.
std::uint64_t reclaimable_in(const std::string& folder, const std::string& label) {
  std::ifstream file(folder + "/memory.stat");
  std::string name;
  std::uint64_t number = 0;
  while (file >> name >> number) {
    if (name == label) return number;
  }
  return 0;
}

std::uint64_t left_in(const std::string& folder) {
  struct Names {
    const char *limit, *used, *reclaimable;
  };
  for (const Names& names :
       {Names{"/memory.max", "/memory.current", "inactive_file"},
        Names{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"}}) {
    auto limit = number_in(folder + names.limit), used = number_in(folder + names.used);
    if (!limit || !used) continue;
    std::uint64_t held = *used - std::min(*used, reclaimable_in(folder, names.reclaimable));
    return *limit - std::min(*limit, held);
  }
  return kNoLimit;
}

}  // namespace

std::uint64_t cgroup_memory_left(const std::string& top, std::string folder) {
  std::uint64_t left = kNoLimit;
  for (;;) {
    left = std::min(left, left_in(top + folder));
    if (folder.empty()) return left;
    folder.erase(folder.rfind('/'));
  }
}

// Lines like "0::/user.slice" (version 2) and "4:memory:/group" (version 1).
std::uint64_t cgroup_memory_left() {
  std::ifstream groups("/proc/self/cgroup");
  std::uint64_t left = kNoLimit;
  for (std::string line; std::getline(groups, line);) {
    auto first = line.find(':');
    auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controller = line.substr(first + 1, second - first - 1);
    std::string folder = line.substr(second + 1);
    if (folder.empty() || folder[0] != '/') continue;
    if (folder == "/") folder.clear();
    if (controller.empty()) left = std::min(left, cgroup_memory_left("/sys/fs/cgroup", folder));
    if (controller == "memory")
      left = std::min(left, cgroup_memory_left("/sys/fs/cgroup/memory", folder));
  }
  return left;
}

}  // namespace terrane::platform
