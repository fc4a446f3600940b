#include "tools/hosts/memory_groups.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ranges>
#include <thread>
#include <utility>

namespace terrane::test_hosts {

// What a version of control groups calls the files of a group.
struct MemoryFiles {
  const char *limit, *swap, *peak, *reached, *reached_label, *killed;
};

namespace {

using base::errno_error;
using base::error;
using base::Result;

namespace fs = std::filesystem;

constexpr std::uint64_t kLeastBytes = 16 << 20;   // with less not even a shell starts
constexpr std::uint64_t kSwappedBytes = 1 << 20;  // more than the kernel charges at once
constexpr double kMib = 1 << 20;
constexpr int kRemoveTries = 1000;
constexpr auto kRemovePause = std::chrono::milliseconds(5);

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

// The number that a file holds alone (label empty), or after the label on a line of its own;
// nullopt where it has none.
std::optional<std::uint64_t> number_in(const std::string& path, const std::string& label = "") {
  std::ifstream file(path);
  std::string word;
  std::uint64_t number = 0;
  while (!label.empty() && file >> word && word != label) continue;
  if (file >> number) return number;
  return std::nullopt;
}

const MemoryFiles kVersion1{.limit = "/memory.limit_in_bytes",
                            .swap = "/memory.memsw.limit_in_bytes",
                            .peak = "/memory.max_usage_in_bytes",
                            .reached = "/memory.failcnt",
                            .reached_label = "",
                            .killed = "/memory.oom_control"};
const MemoryFiles kVersion2{.limit = "/memory.max",
                            .swap = "/memory.swap.max",
                            .peak = "/memory.peak",
                            .reached = "/memory.events",
                            .reached_label = "max",
                            .killed = "/memory.events"};

// This process's group of memory: the folder below the mounted tree, and that tree.
struct Own {
  std::string top, folder;
  bool version_1 = false;
};

// Lines like "4:memory:/group" (version 1) and "0::/user.slice" (version 2). In a container the
// path may be that of the machine, which is not there: then the tree that is seen is its own.
Own own_group() {
  std::ifstream groups("/proc/self/cgroup");
  Own own{.top = "/sys/fs/cgroup"};
  for (std::string line; std::getline(groups, line);) {
    std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    bool version_1 = controllers.find(",memory,") != std::string::npos;
    if (!version_1 && controllers != ",,") continue;
    own.folder = line.substr(second + 1);
    if (version_1) {
      own.top += "/memory";
      own.version_1 = true;
      break;
    }
  }
  if (own.folder == "/" || !fs::is_directory(own.top + own.folder)) own.folder.clear();
  return own;
}

base::Error wrong_size(const HostOptions& options) {
  return error("--memory {}: a number with M or G, 16M at least", options.memory_size);
}

// With the groups that programs have made in it.
void remove_group(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::string> all{folder};
  for (fs::recursive_directory_iterator entry(folder, ignored), end; entry != end;
       entry.increment(ignored)) {
    if (entry->is_directory(ignored)) all.push_back(entry->path().string());
  }
  for (const std::string& one : all | std::views::reverse) {
    // A process that has ended still counts for some moments.
    for (int tries = 0; ::rmdir(one.c_str()) < 0 && errno == EBUSY && tries < kRemoveTries; ++tries)
      std::this_thread::sleep_for(kRemovePause);
  }
}

}  // namespace

MemoryGroups::MemoryGroups(MemoryGroups&& other) noexcept
    : folders_(std::exchange(other.folders_, {})), files_(other.files_), limit_(other.limit_) {}

MemoryGroups::~MemoryGroups() { remove(); }

// A group of version 2 that has processes gives no memory to groups below it, unless it is the
// first of all. So the search goes up.
Result<MemoryGroups> MemoryGroups::make(const HostOptions& options) {
  MemoryGroups groups;
  if (options.memory_size.empty()) return groups;
  if (std::isdigit(static_cast<unsigned char>(options.memory_size[0])) == 0)
    return wrong_size(options);
  Own own = own_group();
  groups.files_ = own.version_1 ? &kVersion1 : &kVersion2;
  for (std::string folder = own.folder;; folder.erase(folder.rfind('/'))) {
    if (groups.make_below(own.top + folder, options.hosts)) break;
    if (folder.empty())
      return error(
          "no control groups for memory can be made below {}{} (root may, where the tree is "
          "mounted for writing)",
          own.top, own.folder);
  }
  if (auto set = groups.set_limits(options); !set) return set.error();
  return groups;
}

bool MemoryGroups::make_below(const std::string& parent, std::uint32_t hosts) {
  if (files_ == &kVersion2) write_file(parent + "/cgroup.subtree_control", "+memory");
  for (std::uint32_t host = 0; host < hosts; ++host) {
    std::string folder = fmt::format("{}/terrane-hosts-{}-{}", parent, ::getpid(), host_name(host));
    bool made = ::mkdir(folder.c_str(), 0755) == 0;
    if (made) folders_.push_back(folder);
    if (made && ::access((folder + files_->limit).c_str(), W_OK) == 0) continue;
    remove();
    return false;
  }
  return true;
}

// The kernel reads the size; what it understood is read back.
Result<> MemoryGroups::set_limits(const HostOptions& options) {
  for (const std::string& folder : folders_) {
    bool written = write_file(folder + files_->limit, options.memory_size);
    limit_ = written ? number_in(folder + files_->limit).value_or(0) : 0;
    if (limit_ < kLeastBytes) return wrong_size(options);
    if (options.swap) continue;
    // Version 1 limits the sum, and would not count how often that was reached.
    std::string none = files_ == &kVersion1 ? std::to_string(limit_ + kSwappedBytes) : "0";
    write_file(folder + files_->swap, none);  // where the kernel counts swap
  }
  return {};
}

Result<> MemoryGroups::enter(std::uint32_t host) const {
  if (folders_.empty() || write_file(folders_[host] + "/cgroup.procs", "0")) return {};
  return errno_error(fmt::format("no process can be moved into {}", folders_[host]));
}

std::string MemoryGroups::peaks() const {
  std::string lines;
  for (std::uint32_t host = 0; host < folders_.size(); ++host) {
    const std::string& folder = folders_[host];
    lines += fmt::format(
        "{}: at most {:.1f} MiB of {:.1f}, limit reached {} times, {} processes killed for it\n",
        host_name(host), number_in(folder + files_->peak).value_or(0) / kMib, limit_ / kMib,
        number_in(folder + files_->reached, files_->reached_label).value_or(0),
        number_in(folder + files_->killed, "oom_kill").value_or(0));
  }
  return lines;
}

void MemoryGroups::remove() {
  for (const std::string& folder : folders_) remove_group(folder);
  folders_.clear();
}

}  // namespace terrane::test_hosts
