#include "platform/cgroup_memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "platform/file_text.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
constexpr std::int64_t kMuch = std::int64_t{1} << 60;  // more than any machine has

// Of memory.stat.
std::uint64_t reclaimable_in(const std::string& folder, const std::string& label) {
  std::string text = file_text(folder + "/memory.stat");
  std::vector<std::string_view> words = words_of(text);
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    if (words[i] == label) return number_of(words[i + 1]).value_or(0);
  return 0;
}

std::uint64_t left_in(const std::string& folder) {
  struct Names {
    const char *limit, *used, *reclaimable;
  };
  for (const Names& names :
       {Names{"/memory.max", "/memory.current", "inactive_file"},
        Names{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"}}) {
    auto limit = number_in_file(folder + names.limit), used = number_in_file(folder + names.used);
    if (!limit || !used) continue;
    std::uint64_t held = *used - std::min(*used, reclaimable_in(folder, names.reclaimable));
    return *limit - std::min(*limit, held);
  }
  return kNoLimit;
}

std::int64_t headroom_in(const std::string& folder) {
  struct Names {
    const char *limit, *used, *inactive, *active;
  };
  std::int64_t least = kMuch;
  for (const Names& names :
       {Names{"/memory.max", "/memory.current", "inactive_file", "active_file"},
        Names{"/memory.high", "/memory.current", "inactive_file", "active_file"},
        Names{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
              "total_active_file"},
        Names{"/memory.soft_limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file",
              "total_active_file"}}) {
    auto limit = number_in_file(folder + names.limit), used = number_in_file(folder + names.used);
    if (!limit || !used || *limit > static_cast<std::uint64_t>(kMuch)) continue;
    std::uint64_t cache =
        reclaimable_in(folder, names.inactive) + reclaimable_in(folder, names.active);
    auto held = static_cast<std::int64_t>(*used - std::min(*used, cache));
    auto most = static_cast<std::int64_t>(*limit - *limit / 16);
    least = std::min(least, most - held);
  }
  return least;
}

// Calls with the top of each hierarchy that limits memory, and the folder below it that this
// process is in: from lines like "0::/user.slice" (version 2) and "4:memory:/group" (version 1).
template <typename Each>
void for_own_groups(Each each) {
  std::string groups = file_text("/proc/self/cgroup");
  for (std::string_view line : lines_of(groups)) {
    auto first = line.find(':');
    auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controller(line.substr(first + 1, second - first - 1));
    std::string folder(line.substr(second + 1));
    if (folder.empty() || folder[0] != '/') continue;
    if (folder == "/") folder.clear();
    if (!controller.empty() && controller != "memory") continue;
    each(controller.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory", folder);
  }
}

// The folder's inode: another container's group of the same name has another one.
std::uint64_t inode_of(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

CgroupMemory tightest_cgroup(const std::string& top, std::string folder) {
  CgroupMemory tightest;
  for (;;) {
    std::uint64_t left = left_in(top + folder);
    if (left < tightest.left_bytes) tightest = {left, inode_of(top + folder)};
    if (folder.empty()) return tightest;
    folder.erase(folder.rfind('/'));
  }
}

std::int64_t cgroup_headroom(const std::string& top, std::string folder) {
  for (std::int64_t least = kMuch;; folder.erase(folder.rfind('/'))) {
    least = std::min(least, headroom_in(top + folder));
    if (folder.empty()) return least;
  }
}

CgroupMemory tightest_cgroup() {
  CgroupMemory tightest;
  for_own_groups([&](const std::string& top, const std::string& folder) {
    CgroupMemory group = tightest_cgroup(top, folder);
    if (group.left_bytes < tightest.left_bytes) tightest = group;
  });
  return tightest;
}

std::int64_t cgroup_headroom() {
  std::int64_t least = kMuch;
  for_own_groups([&](const std::string& top, const std::string& folder) {
    least = std::min(least, cgroup_headroom(top, folder));
  });
  return least;
}

std::uint64_t cgroup_memory_left() { return tightest_cgroup().left_bytes; }

}  // namespace terrane::platform
