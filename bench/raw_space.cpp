#include "raw_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "base/check.h"
#include "platform/fault_context.h"
#include "platform/uffd_abi.h"

namespace terrane::bench {
namespace {

namespace abi = platform::abi;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kRegions = 1024;

RawSpace* handled =
    nullptr;  // whose faults the handler resolves; a handler has no argument of its own

platform::Span span(std::size_t page, std::size_t count) { return {page * kPage, count * kPage}; }

int open_userfault(Detection detection) {
  int fd = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | abi::kUserModeOnly));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_MINOR_SHMEM |
                 UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM |
                 (detection == Detection::kAsync ? abi::kFeatureWpAsync : 0);
  if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

}  // namespace

base::Result<std::unique_ptr<RawSpace>> RawSpace::create(Detection detection, std::size_t pages) {
  std::unique_ptr<RawSpace> space(new RawSpace);
  space->pages_ = pages;
  for (platform::DualMapping* mapping : {&space->mapping_, &space->peer_}) {
    auto created = platform::DualMapping::create(pages * kPage, nullptr, "terrane-floor");
    if (!created) return created.error();
    *mapping = std::move(created).value();
  }
  if (!space->peer_.populate(span(0, pages))) return base::errno_error("no memory to measure with");
  space->userfault_ = open_userfault(detection);
  if (space->userfault_ < 0) return base::errno_error("userfaultfd");
  uffdio_register request{};
  request.range = {reinterpret_cast<std::uintptr_t>(space->mapping_.app()), pages * kPage};
  request.mode =
      UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP;
  if (ioctl(space->userfault_, UFFDIO_REGISTER, &request) != 0) {
    return base::errno_error("UFFDIO_REGISTER");
  }
  space->pagemap_ = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  return space;
}

RawSpace::~RawSpace() {
  if (userfault_ >= 0) close(userfault_);
  if (pagemap_ >= 0) close(pagemap_);
}

RawSpace::Handler::Handler(RawSpace& space, Fill fill) {
  space.fill_ = fill;
  handled = &space;
  struct sigaction action {};
  action.sa_sigaction = &RawSpace::on_sigbus;
  action.sa_flags = SA_SIGINFO;
  TERRANE_CHECK(sigaction(SIGBUS, &action, &before_) == 0, "the handler cannot be installed");
}

RawSpace::Handler::~Handler() {
  sigaction(SIGBUS, &before_, nullptr);
  handled = nullptr;
}

void RawSpace::on_sigbus(int, siginfo_t* info, void* context) {
  auto offset = static_cast<std::byte*>(info->si_addr) - handled->mapping_.app();
  bool write =
      platform::faulting_access(*static_cast<ucontext_t*>(context)) == platform::Access::kWrite;
  handled->resolve(static_cast<std::size_t>(offset) / kPage, write);
}

void RawSpace::resolve(std::size_t page, bool wants_write) {
  if (wants_write) {
    set_protection(page, 1, false);
    return;
  }
  if (fill_ == Fill::kCopyIntoHole) {
    uffdio_copy request{};
    request.dst = reinterpret_cast<std::uintptr_t>(&app(page));
    request.src = reinterpret_cast<std::uintptr_t>(peer(page));
    request.len = kPage;
    request.mode = UFFDIO_COPY_MODE_DONTWAKE | UFFDIO_COPY_MODE_WP;
    TERRANE_CHECK(ioctl(userfault_, UFFDIO_COPY, &request) == 0, "UFFDIO_COPY");
    return;
  }
  if (fill_ == Fill::kCopy) std::memcpy(runtime(page), peer(page), kPage);
  enter(page, 1, true);
}

void RawSpace::enter(std::size_t page, std::size_t count, bool write_protected) {
  uffdio_continue request{};
  request.range = {reinterpret_cast<std::uintptr_t>(&app(page)), count * kPage};
  request.mode = UFFDIO_CONTINUE_MODE_DONTWAKE | (write_protected ? abi::kContinueModeWp : 0);
  TERRANE_CHECK(ioctl(userfault_, UFFDIO_CONTINUE, &request) == 0, "UFFDIO_CONTINUE");
}

void RawSpace::set_protection(std::size_t page, std::size_t count, bool on) {
  uffdio_writeprotect request{};
  request.range = {reinterpret_cast<std::uintptr_t>(&app(page)), count * kPage};
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : UFFDIO_WRITEPROTECT_MODE_DONTWAKE;
  TERRANE_CHECK(ioctl(userfault_, UFFDIO_WRITEPROTECT, &request) == 0, "UFFDIO_WRITEPROTECT");
}

std::size_t RawSpace::scan(std::size_t page, std::size_t count) {
  abi::PageRegion regions[kRegions];
  abi::ScanArgument argument{};
  argument.size = sizeof argument;
  argument.flags = abi::kScanWpMatching | abi::kScanCheckWpAsync;
  argument.start = reinterpret_cast<std::uintptr_t>(&app(page));
  argument.end = argument.start + count * kPage;
  argument.vec = reinterpret_cast<std::uintptr_t>(regions);
  argument.vec_len = kRegions;
  argument.category_mask = abi::kPageIsWritten | abi::kPageIsPresent;
  argument.return_mask = abi::kPageIsWritten;
  int found = ioctl(pagemap_, abi::kPagemapScan, &argument);
  TERRANE_CHECK(found >= 0 && argument.walk_end == argument.end, "PAGEMAP_SCAN");
  return static_cast<std::size_t>(found);
}

void RawSpace::zap(std::size_t page, std::size_t count) {
  int result = madvise(mapping_.app() + page * kPage, count * kPage, MADV_DONTNEED);
  TERRANE_CHECK(result == 0, "MADV_DONTNEED");
}

void RawSpace::punch(std::size_t page, std::size_t count) { mapping_.punch(span(page, count)); }

void RawSpace::populate(std::size_t page, std::size_t count) {
  TERRANE_CHECK(mapping_.populate(span(page, count)), "no memory to measure with");
}

volatile unsigned char& RawSpace::app(std::size_t page) {
  return *reinterpret_cast<volatile unsigned char*>(mapping_.app() + page * kPage);
}

std::byte* RawSpace::runtime(std::size_t page) { return mapping_.runtime() + page * kPage; }

const std::byte* RawSpace::peer(std::size_t page) const { return peer_.runtime() + page * kPage; }

}  // namespace terrane::bench
