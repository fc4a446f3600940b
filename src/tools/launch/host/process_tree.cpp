#include "tools/launch/host/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "tools/launch/loop.h"

namespace terrane::tools {
namespace {

constexpr long kPauseNs = 1'000'000;

constexpr unsigned kExitingFlag = 4;  // the kernel's PF_EXITING

struct ProcessEntry {
  pid_t pid;
  pid_t parent;
  char state;
  unsigned flags;
};

// The state and the parent come after the command's name, which may hold anything but ends at the
// last ')'.
bool read_entry(const char* pid, ProcessEntry& entry) {
  char path[64], text[512];
  std::snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (got <= 0) return false;
  text[got] = '\0';
  const char* after_name = std::strrchr(text, ')');
  if (!after_name) return false;
  entry.pid = std::atoi(pid);
  return std::sscanf(after_name + 1, " %c %d %*d %*d %*d %*d %u", &entry.state, &entry.parent,
                     &entry.flags) == 3;
}

std::vector<ProcessEntry> all_processes() {
  std::vector<ProcessEntry> all;
  DIR* folder = ::opendir("/proc");
  if (!folder) return all;
  while (const dirent* item = ::readdir(folder)) {
    ProcessEntry entry{};
    if (item->d_name[0] >= '1' && item->d_name[0] <= '9' && read_entry(item->d_name, entry)) {
      all.push_back(entry);
    }
  }
  ::closedir(folder);
  return all;
}

std::vector<pid_t> descendants(pid_t root, std::span<const pid_t> spared) {
  std::vector<ProcessEntry> all = all_processes();
  std::vector<pid_t> parents{root}, living;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    for (const ProcessEntry& entry : all) {
      bool spare = std::find(spared.begin(), spared.end(), entry.pid) != spared.end();
      if (entry.parent != parents[i] || spare) continue;
      parents.push_back(entry.pid);
      if (entry.state != 'Z' && entry.state != 'X') living.push_back(entry.pid);
    }
  }
  return living;
}

// Linux's struct pidfd_info as of 6.15; Debian 12's headers lack it.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t ids[11];
  std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kPidfdInfoExit = 1u << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

}  // namespace

std::size_t kill_descendants(std::span<const pid_t> spared) {
  siginfo_t ended{};
  bool childless = ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
  if (childless) return 0;  // orphans become our children: without a child there is no descendant
  std::vector<pid_t> living = descendants(::getpid(), spared);
  for (pid_t pid : living) ::kill(pid, SIGKILL);
  return living.size();
}

bool kill_all_descendants(std::uint64_t patience_ms) {
  std::uint64_t deadline = now_ms() + patience_ms;
  while (kill_descendants({}) > 0) {
    if (now_ms() >= deadline) return false;
    timespec pause{0, kPauseNs};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

std::optional<int> foreign_exit_status(int pidfd) {
  PidfdInfo info{};
  info.mask = kPidfdInfoExit;
  if (::ioctl(pidfd, kPidfdGetInfo, &info) < 0 || !(info.mask & kPidfdInfoExit)) {
    return std::nullopt;
  }
  return info.exit_code;
}

int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

bool is_exiting(pid_t pid) {
  ProcessEntry entry{};
  return !read_entry(std::to_string(pid).c_str(), entry) || (entry.flags & kExitingFlag) != 0;
}

// While a debugger holds the process, its state is 't'; one that a debugger lets run may also be
// 'T' for a moment.
bool is_stopped(pid_t pid) {
  ProcessEntry entry{};
  if (!read_entry(std::to_string(pid).c_str(), entry) || entry.state != 'T') return false;
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("TracerPid:")) return std::atoi(line.c_str() + 10) == 0;
  }
  return false;
}

}  // namespace terrane::tools
