#include "tools/hosts/places.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"

namespace terrane::test_hosts {
namespace {

using base::errno_error;
using base::Result;
using base::UniqueFd;

namespace fs = std::filesystem;

struct Place {
  const char* type;
  const char* path;
  std::string options;
};

Result<> mount_new(const Place& place) {
  if (::mount(place.type, place.path, place.type, MS_NOSUID | MS_NODEV, place.options.c_str()) <
      0) {
    return errno_error(fmt::format("cannot mount a {} of its own on {}", place.type, place.path));
  }
  return {};
}

// A folder that a new mount hides, to be put there again.
struct Kept {
  std::string path;
  UniqueFd folder;
};

bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/");
}

std::vector<Kept> keep(const HostOptions& options) {
  std::vector<std::string> wanted = options.shared;
  wanted.emplace_back("/sys/fs/cgroup");
  std::vector<Kept> kept;
  for (const std::string& path : wanted) {
    bool hidden = is_below(path, "/tmp") || is_below(path, "/dev/shm") || is_below(path, "/sys");
    bool inside = false;
    for (const Kept& other : kept)
      inside = inside || other.path == path || is_below(path, other.path);
    if (!hidden || inside) continue;
    UniqueFd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder) kept.push_back({path, std::move(folder)});
  }
  return kept;
}

Result<> put_back(const std::vector<Kept>& kept) {
  for (const Kept& one : kept) {
    std::error_code ignored;
    fs::create_directories(one.path, ignored);
    std::string source = fmt::format("/proc/self/fd/{}", one.folder.get());
    if (::mount(source.c_str(), one.path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) < 0) {
      return errno_error(fmt::format("cannot show {} to a test host", one.path));
    }
  }
  return {};
}

// Addresses of one kind suffice, and a bridge is quiet without the other.
void do_without_ipv6() {
  for (const char* which : {"all", "default"}) {
    std::ofstream(fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", which)) << '1';
  }
}

// A system without /etc/hosts gets one above its /etc, which stays as it is. Its bytes are in a
// tmpfs that the test host's own /tmp hides.
Result<> make_place_of_hosts_file() {
  std::error_code ignored;
  if (fs::exists("/etc/hosts", ignored)) return {};
  if (auto done = mount_new({"tmpfs", "/tmp", "mode=700,size=256k"}); !done) return done;
  ::mkdir("/tmp/files", 0755);
  ::mkdir("/tmp/work", 0755);
  constexpr char kLayers[] = "lowerdir=/etc,upperdir=/tmp/files,workdir=/tmp/work";
  if (::mount("overlay", "/etc", "overlay", MS_NOSUID | MS_NODEV, kLayers) < 0)
    return errno_error(
        "this system has no /etc/hosts, and a test host cannot get one of its own (touch "
        "/etc/hosts mends it)");
  std::ofstream("/etc/hosts");
  return {};
}

// Names are found by /etc/hosts, as on a small cluster.
Result<> make_hosts_file(const HostOptions& options) {
  constexpr char kDraft[] = "/tmp/hosts";
  {
    std::ofstream file(kDraft);
    file << "127.0.0.1 localhost\n";
    for (std::uint32_t host = 0; host < options.hosts; ++host) {
      file << host_address(options, host) << ' ' << host_name(host) << '\n';
    }
  }
  ::chmod(kDraft, 0644);
  if (::mount(kDraft, "/etc/hosts", nullptr, MS_BIND, nullptr) < 0) {
    return errno_error("cannot give a test host an /etc/hosts of its own");
  }
  ::unlink(kDraft);
  return {};
}

}  // namespace

Result<> make_places(const HostOptions& options, std::uint32_t host) {
  std::string name = host_name(host);
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0 ||
      ::sethostname(name.c_str(), name.size()) < 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) {
    return errno_error("cannot make namespaces for a test host");
  }
  std::vector<Kept> kept = keep(options);
  const Place places[] = {{"tmpfs", "/tmp", "mode=1777,size=" + options.tmp_size},
                          {"tmpfs", "/dev/shm", "mode=1777,size=" + options.shm_size},
                          {"proc", "/proc", ""},
                          {"sysfs", "/sys", ""}};
  if (auto done = make_place_of_hosts_file(); !done) return done;
  for (const Place& place : places) {
    if (auto done = mount_new(place); !done) return done;
  }
  do_without_ipv6();
  if (auto done = put_back(kept); !done) return done;
  return make_hosts_file(options);
}

}  // namespace terrane::test_hosts
