#include "bootstrap/job_of_one.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bootstrap/this_host.h"

namespace terrane::bootstrap {

base::Result<Contribution> copy_contribution(std::span<const std::byte> bytes,
                                             std::span<const int> fds) {
  Contribution own{{bytes.begin(), bytes.end()}, {}};
  for (int fd : fds) {
    int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) {
      base::Error error = base::errno_error("cannot keep a descriptor of this node's own card");
      for (int done : own.fds) ::close(done);
      return error;
    }
    own.fds.push_back(copy);
  }
  return own;
}

void close_contributions(std::vector<Contribution>& contributions) {
  for (auto& contribution : contributions) {
    for (int fd : contribution.fds) ::close(fd);
    contribution.fds.clear();
  }
}

JobOfOne::JobOfOne() : host_(this_hosts_name()) {}

base::Result<std::vector<Contribution>> JobOfOne::exchange(std::span<const std::byte> bytes,
                                                           std::span<const int> fds) {
  auto own = copy_contribution(bytes, fds);
  if (!own) return own.error();
  std::vector<Contribution> all;
  all.push_back(std::move(own).value());
  return all;
}

// Nothing here allocates: the caller may be in a signal handler.
void JobOfOne::fail(std::string_view sentence, int code) {
  iovec parts[3] = {{const_cast<char*>("terrane: "), 9},
                    {const_cast<char*>(sentence.data()), sentence.size()},
                    {const_cast<char*>("\n"), 1}};
  [[maybe_unused]] auto ignored = ::writev(STDERR_FILENO, parts, 3);
  ::_exit(code);
}

}  // namespace terrane::bootstrap
