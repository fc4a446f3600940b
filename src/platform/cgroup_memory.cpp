#include "platform/cgroup_memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>

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

// The folder's inode: another container's group of the same name has another one.
std::uint64_t number_of(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

CgroupMemory tightest_cgroup(const std::string& top, std::string folder) {
  CgroupMemory tightest;
  for (;;) {
    std::uint64_t left = left_in(top + folder);
    if (left < tightest.left_bytes) tightest = {left, number_of(top + folder)};
    if (folder.empty()) return tightest;
    folder.erase(folder.rfind('/'));
  }
}

// Lines like "0::/user.slice" (version 2) and "4:memory:/group" (version 1).
CgroupMemory tightest_cgroup() {
  std::ifstream groups("/proc/self/cgroup");
  CgroupMemory tightest;
  for (std::string line; std::getline(groups, line);) {
    auto first = line.find(':');
    auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controller = line.substr(first + 1, second - first - 1);
    std::string folder = line.substr(second + 1);
    if (folder.empty() || folder[0] != '/') continue;
    if (folder == "/") folder.clear();
    if (!controller.empty() && controller != "memory") continue;
    CgroupMemory group = tightest_cgroup(
        controller.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory", std::move(folder));
    if (group.left_bytes < tightest.left_bytes) tightest = group;
  }
  return tightest;
}

std::uint64_t cgroup_memory_left() { return tightest_cgroup().left_bytes; }

}  // namespace terrane::platform
