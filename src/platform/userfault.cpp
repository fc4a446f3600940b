#include "platform/userfault.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "platform/kernel_refused.h"
#include "platform/page_size.h"
#include "platform/uffd_abi.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kFeatures = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM |
                                    UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                                    UFFD_FEATURE_WP_HUGETLBFS_SHMEM;

base::Error denied() {
  if (errno == ENOSYS)
    return base::error("this kernel is built without userfaultfd (CONFIG_USERFAULTFD)");
  if (errno == EPERM || errno == EACCES) {
    return base::errno_error(
        "userfaultfd is denied; in a container allow the system call (docker run "
        "--security-opt seccomp=unconfined), elsewhere run: chmod a+rw /dev/userfaultfd");
  }
  return base::errno_error("userfaultfd cannot be opened");
}

// The system call, or the device where a seccomp filter takes the call away and file permissions
// grant the device.
int open_descriptor() {
  int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | abi::kUserModeOnly));
  if (fd >= 0) return fd;
  int call_errno = errno;
  int device = ::open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
  if (device >= 0) {
    fd = ioctl(device, abi::kDeviceNew, O_CLOEXEC | O_NONBLOCK | abi::kUserModeOnly);
    close(device);
  }
  errno = call_errno;
  return fd;
}

// Where the program has changed the rights of a part, the view is several mappings, and one call
// must not reach from one into the next (ENOENT). A half of the pages; at least one.
std::uint64_t part_of(std::uint64_t bytes) {
  return std::max(bytes / page_bytes() / 2, std::uint64_t{1}) * page_bytes();
}

}  // namespace

base::Result<Userfault> Userfault::open(bool async_protect) {
  int fd = open_descriptor();
  if (fd < 0) return denied();
  Userfault userfault(fd);
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kFeatures | (async_protect ? abi::kFeatureWpAsync : 0);
  if (ioctl(fd, UFFDIO_API, &api) != 0) {
    return base::error(
        "this kernel's userfaultfd lacks {}; it takes Linux {} or later (Debian 12: "
        "apt install -t bookworm-backports linux-image-amd64)",
        async_protect ? "asynchronous write protection" : "what Terrane needs on memory files",
        async_protect ? "6.7" : "5.19");
  }
  return userfault;
}

base::Result<void> Userfault::watch(std::byte* view, std::uint64_t bytes) const {
  uffdio_register request{};
  request.range = {reinterpret_cast<std::uintptr_t>(view), bytes};
  request.mode =
      UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
  if (ioctl(fd_.get(), UFFDIO_REGISTER, &request) != 0) {
    return base::errno_error("userfaultfd cannot watch the shared space (UFFDIO_REGISTER)");
  }
  return {};
}

bool Userfault::can_enter_protected(std::uintptr_t address) const {
  uffdio_continue request{};
  request.range = {address, page_bytes()};
  request.mode = UFFDIO_CONTINUE_MODE_DONTWAKE | abi::kContinueModeWp;
  return ioctl(fd_.get(), UFFDIO_CONTINUE, &request) == 0;
}

// Nobody ever sleeps on the descriptor in SIGBUS mode, so nobody needs waking.
void Userfault::enter(std::uintptr_t address, std::uint64_t bytes, bool write_protected) const {
  std::uintptr_t end = address + bytes;
  std::uint64_t most = bytes;
  while (address < end) {
    uffdio_continue request{};
    request.range = {address, std::min(end - address, most)};
    request.mode = UFFDIO_CONTINUE_MODE_DONTWAKE | (write_protected ? abi::kContinueModeWp : 0);
    if (ioctl(fd_.get(), UFFDIO_CONTINUE, &request) == 0) {
      address += request.range.len;
    } else if (request.mapped > 0) {  // as far as the first that is there
      address += static_cast<std::uint64_t>(request.mapped);
    } else if (errno == EEXIST) {
      address += page_bytes();
      if (address < end && missing_.available()) address = missing_.first_missing(address, end);
    } else if (errno == ENOENT && request.range.len > page_bytes()) {
      most = part_of(request.range.len);
    } else if (errno != EAGAIN && errno != EINTR) {
      kernel_refused("UFFDIO_CONTINUE", address, errno);
    }
  }
}

std::uint64_t Userfault::copy_into_hole(std::uintptr_t address, const std::byte* source,
                                        std::uint64_t bytes, bool write_protected) const {
  std::uint64_t done = 0, most = bytes;
  while (done < bytes) {
    uffdio_copy request{};
    request.dst = address + done;
    request.src = reinterpret_cast<std::uintptr_t>(source + done);
    request.len = std::min(bytes - done, most);
    request.mode = UFFDIO_COPY_MODE_DONTWAKE | (write_protected ? UFFDIO_COPY_MODE_WP : 0);
    if (ioctl(fd_.get(), UFFDIO_COPY, &request) == 0) {
      done += request.len;
    } else if (request.copy > 0) {
      done += static_cast<std::uint64_t>(request.copy);
    } else if (errno == ENOENT && request.len > page_bytes()) {
      most = part_of(request.len);
    } else if (errno == EEXIST || errno == ENOMEM) {
      return done;
    } else if (errno != EAGAIN && errno != EINTR) {
      kernel_refused("UFFDIO_COPY", address + done, errno);
    }
  }
  return done;
}

void Userfault::set_write_protection(std::uintptr_t address, std::uint64_t bytes, bool on) const {
  uffdio_writeprotect request{};
  request.range = {address, bytes};
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : UFFDIO_WRITEPROTECT_MODE_DONTWAKE;
  while (ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &request) != 0) {
    if (errno != EAGAIN && errno != EINTR) kernel_refused("UFFDIO_WRITEPROTECT", address, errno);
  }
}

}  // namespace terrane::platform
