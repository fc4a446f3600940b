#include "base/open_descriptors.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/descriptor_watch.h"

namespace terrane::base {
namespace {

// Empty where /proc may not be read: children then inherit what UCX opens.
std::vector<int> descriptors() {
  std::vector<int> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    found.push_back(std::atoi(entry->path().filename().c_str()));
  }
  // The one by which they were read is closed now.
  std::erase_if(found, [](int fd) { return ::fcntl(fd, F_GETFD) < 0; });
  std::sort(found.begin(), found.end());
  return found;
}

bool is_of_a_kind_that_libraries_open(int fd) {
  std::error_code error;
  std::string what = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  return what.starts_with("socket:") || what.starts_with("pipe:") ||
         what.starts_with("anon_inode:");
}

}  // namespace

OpenDescriptors::OpenDescriptors() : open_(descriptors()) {}

std::vector<int> OpenDescriptors::later_ones() const {
  std::vector<int> found = descriptors();
  std::erase_if(found, [&](int fd) {
    return std::binary_search(open_.begin(), open_.end(), fd) ||
           !is_of_a_kind_that_libraries_open(fd);
  });
  return found;
}

void OpenDescriptors::own_later_ones() const {
  for (int fd : later_ones()) own_descriptor(fd);
}

void OpenDescriptors::own_later_ones_and_close_on_exec() const {
  for (int fd : later_ones()) {
    own_descriptor(fd);
    int flags = ::fcntl(fd, F_GETFD);
    if (flags >= 0) ::fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

}  // namespace terrane::base
