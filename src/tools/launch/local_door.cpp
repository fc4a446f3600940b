#include "tools/launch/local_door.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <fstream>

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxJobName = 60;
constexpr int kDoorBacklog = 32;
constexpr timeval kDoorPatience{5, 0};

// A name that begins with a zero byte is in no folder.
struct DoorAddress {
  DoorAddress(std::string_view kind, const std::string& job) {
    std::string name = std::string(kind) + job.substr(0, kMaxJobName);
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size = 0;
};

}  // namespace

base::UniqueFd open_local_door(std::string_view kind, const std::string& job, int type) {
  base::UniqueFd door(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  DoorAddress address(kind, job);
  bool open = door && ::bind(door.get(), address.generic(), address.size) == 0 &&
              ::listen(door.get(), kDoorBacklog) == 0;
  return open ? std::move(door) : base::UniqueFd();
}

base::UniqueFd admit_at_local_door(int door) {
  for (;;) {
    base::UniqueFd visitor(::accept4(door, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!visitor || user_of(visitor.get()) == ::geteuid()) return visitor;
  }
}

base::UniqueFd knock_at_local_door(std::string_view kind, const std::string& job, int type) {
  base::UniqueFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kDoorPatience, sizeof kDoorPatience);
  DoorAddress address(kind, job);
  if (!socket || ::connect(socket.get(), address.generic(), address.size) < 0) return {};
  return socket;
}

uid_t user_of(int socket) {
  ucred other{};
  socklen_t size = sizeof other;
  bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0;
  return known ? other.uid : static_cast<uid_t>(-1);
}

std::vector<std::string> local_doors(std::string_view kind) {
  std::vector<std::string> jobs;
  const std::string start = "@" + std::string(kind);
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    std::size_t at = line.find(start);
    if (at == std::string::npos) continue;
    std::string job = line.substr(at + start.size());
    if (is_job_name(job) && std::find(jobs.begin(), jobs.end(), job) == jobs.end())
      jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

bool is_job_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxJobName && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace terrane::tools
