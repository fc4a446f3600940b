#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "bootstrap/bootstrap.h"
#include "bootstrap/foreign_launcher.h"
#include "bootstrap/job_of_one.h"
#include "bootstrap/local_bootstrap.h"
#include "bootstrap/pmix_bootstrap.h"

namespace terrane::bootstrap {
namespace {

// Takes the launcher's variables out of the environment, so that this program's children do not
// think they are nodes.
std::optional<std::string> take_socket_variable() {
  std::optional<std::string> text;
  if (const char* value = std::getenv(kSocketVariable)) text = value;
  for (const char* name : {kSocketVariable, kNodeVariable, kNodesVariable, kJobVariable}) {
    ::unsetenv(name);
  }
  return text;
}

base::Result<base::UniqueFd> inherited_socket(const std::string& text) {
  char* end = nullptr;
  long number = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || number < 0 || number > 1'000'000) {
    return base::error(
        "{}={} is not a descriptor; it is `terrane run` that sets it: do not set it by hand (unset "
        "{})",
        kSocketVariable, text, kSocketVariable);
  }
  int fd = static_cast<int>(number);
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_SEQPACKET) {
    return base::error(
        "descriptor {} ({}) is not the socket that `terrane run` handed on: something between "
        "`terrane run` and this "
        "program (a script, `ssh`, `sudo`, Python's subprocess with close_fds) closed it; start "
        "the program directly, "
        "or keep its descriptors open",
        fd, kSocketVariable);
  }
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return base::UniqueFd(fd);
}

// Every node holds some descriptors of every other; the soft limit is often 1024 where the hard one
// is far higher.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

base::Result<std::unique_ptr<Bootstrap>> Bootstrap::connect() {
  std::optional<std::string> socket = take_socket_variable();
  raise_descriptor_limit();
  if (!socket) {
    if (PmixClient::offered()) return PmixBootstrap::connect();
    if (auto foreign = foreign_launcher()) return *foreign;
    return std::unique_ptr<Bootstrap>(std::make_unique<JobOfOne>());
  }
  auto inherited = inherited_socket(*socket);
  if (!inherited) return inherited.error();
  return LocalBootstrap::claim(std::move(inherited).value());
}

}  // namespace terrane::bootstrap
