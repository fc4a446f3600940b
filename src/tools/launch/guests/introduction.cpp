#include "tools/launch/guests/introduction.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "base/architecture.h"
#include "bootstrap/this_host.h"

namespace terrane::tools {
namespace {

std::string_view first_part(std::string_view name) { return name.substr(0, name.find('.')); }

std::string own_path() {
  char path[PATH_MAX];
  ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : "terrane";
}

}  // namespace

Introduction introduce_ourselves() {
  utsname system{};
  ::uname(&system);
  return {.version = TERRANE_VERSION,
          .machine = system.machine,
          .host_name = bootstrap::this_hosts_name(),
          .path = own_path()};
}

base::Result<> compare_introductions(const Introduction& mine, const Introduction& theirs,
                                     const std::string& host) {
  // Whether the nodes may differ depends on what they share: they compare for themselves.
  if (!base::go_together(mine.machine, theirs.machine)) {
    return base::error(
        "host {} has processors of another architecture ({}) than this host ({}); the hosts of a "
        "job must be of one architecture, or of x86_64 and aarch64",
        host, theirs.machine, mine.machine);
  }
  if (mine.version != theirs.version) {
    return base::error(
        "host {} runs Terrane {} ({}), this host {}; install one version on all hosts, or name its "
        "folder there: --prefix FOLDER",
        host, theirs.version, theirs.path, mine.version);
  }
  return {};
}

std::int32_t match_host(const Introduction& guest, const std::vector<std::string>& names,
                        const std::vector<bool>& taken) {
  auto free = [&](std::size_t host) { return host < names.size() && !taken[host]; };
  if (guest.host >= 0) return free(static_cast<std::size_t>(guest.host)) ? guest.host : -1;
  for (bool whole : {true, false}) {
    for (std::size_t host = 0; host < names.size(); ++host) {
      bool same = whole ? names[host] == guest.host_name
                        : first_part(names[host]) == first_part(guest.host_name);
      if (same && free(host)) return static_cast<std::int32_t>(host);
    }
  }
  std::int32_t left = 0;
  for (std::size_t host = 0; host < names.size(); ++host) {
    if (free(host) && left++ == std::max(guest.rank, 0)) return static_cast<std::int32_t>(host);
  }
  for (std::size_t host = 0; host < names.size(); ++host) {
    if (free(host)) return static_cast<std::int32_t>(host);
  }
  return -1;
}

}  // namespace terrane::tools
