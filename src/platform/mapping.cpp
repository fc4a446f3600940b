#include "platform/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "platform/memory_left.h"
#include "platform/page_size.h"
#include "platform/view_rights.h"

#ifndef MADV_POPULATE_WRITE  // Linux 5.14
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE  // Linux 6.1
#define MADV_COLLAPSE 25
#endif
#ifndef MAP_FIXED_NOREPLACE  // Linux 4.17
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace terrane::platform {
namespace {

// Larger populations go in steps of this size and ask before each whether the machine has that much
// left.
constexpr std::uint64_t kPopulateStep = std::uint64_t{64} << 20;

// What is shown in core files goes in these steps: few mappings in the one, for a terabyte is
// 16,384 of them; few calls in the other. No mapping may end within a large page.
constexpr std::uint64_t kShownStep = std::uint64_t{64} << 20;
constexpr std::uint64_t kShownTail = kLargePage;

// A large page that takes longer costs more than its small ones do: the kernel moves other pages to
// get it, or a virtual machine's host has taken its memory back and gives it page by page.
constexpr std::uint64_t kLargePageNs = 1'000'000;

// The permissions of a memory file say which pages it may have: nothing else that a mapping in
// another process can see belongs to the file. Nobody opens it by a name.
constexpr mode_t kSmallPages = 0600;
constexpr mode_t kAnyPages = 0700;

// The one rule for every mapping of a memory file. A child would see pages that its parent's node
// invalidates (rule 13), and would keep a peer's memory alive. Without the last advice, a fault or
// the kernel's own service (khugepaged), or another process (process_madvise), may make large pages
// in the mapping. The kernel refuses it where it has no large pages: just as well.
bool set_view_advice(std::byte* view, std::uint64_t bytes, int fd) {
  madvise(view, bytes, MADV_DONTDUMP);
  struct stat status {};
  bool any = fstat(fd, &status) == 0 && (status.st_mode & 0777) == kAnyPages;
  if (!any) madvise(view, bytes, MADV_NOHUGEPAGE);
  return madvise(view, bytes, MADV_DONTFORK) == 0;
}

base::Result<std::byte*> map_view(int fd, std::uint64_t bytes, void* address) {
  int flags = MAP_SHARED | MAP_NORESERVE | (address != nullptr ? MAP_FIXED_NOREPLACE : 0);
  void* view = map_sparse(address, bytes, flags, fd);
  if (view == MAP_FAILED) {
    if (errno == EEXIST) {
      return base::error("cannot map {} bytes at {}: something else is mapped there already", bytes,
                         address);
    }
    if (errno == EAGAIN)
      return base::error(
          "cannot map {} bytes of shared memory: mlockall(MCL_FUTURE) is in force and 'ulimit -l' "
          "too low; call mlockall after the start, or raise the limit",
          bytes);
    return base::errno_error(fmt::format(
        "cannot map {} bytes of shared memory (a limit on addresses? see ulimit -v)", bytes));
  }
  if (address != nullptr && view != address) {  // kernels before 4.17 take the address as a wish
    munmap(view, bytes);
    return base::error("cannot map {} bytes at {}: the kernel chose another address", bytes,
                       address);
  }
  return static_cast<std::byte*>(view);
}

// Takes the address space first, and the file's place in it then. A piece before and one behind are
// left over.
base::Result<std::byte*> map_aligned(int fd, std::uint64_t bytes, std::uint64_t alignment) {
  void* whole = mmap(nullptr, bytes + alignment, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) {
    return base::errno_error(
        fmt::format("cannot reserve {} bytes of address space (see ulimit -v)", bytes));
  }
  auto* begin = static_cast<std::byte*>(whole);
  auto at = reinterpret_cast<std::uintptr_t>(begin);
  std::uint64_t before = (alignment - at % alignment) % alignment;
  std::byte* place = begin + before;
  if (before != 0) munmap(begin, before);
  if (before != alignment) munmap(place + bytes, alignment - before);
  void* view = map_sparse(place, bytes, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd);
  if (view != MAP_FAILED) return place;
  base::Error error = base::errno_error(fmt::format("cannot map {} bytes of shared memory", bytes));
  munmap(place, bytes);
  return error;
}

std::atomic<bool> file_size_may_be_limited{false};

// Past the limit, ftruncate would not only fail but raise SIGXFSZ.
bool within_file_size_limit(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

// Gives memory to so many bytes by a call that does it for a part of them.
template <typename Call>
bool in_steps(std::uint64_t bytes, Call call) noexcept {
  for (std::uint64_t done = 0; done < bytes; done += kPopulateStep) {
    std::uint64_t step = std::min(kPopulateStep, bytes - done);
    if (step == kPopulateStep && !memory_left(step)) {
      errno = ENOMEM;
      return false;
    }
    while (call(done, step) != 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      if (errno == EFAULT || errno == ENOSPC) errno = ENOMEM;  // where a store would raise SIGBUS
      return false;
    }
  }
  return true;
}

// Whether fallocate takes a large page for a small one. It knows of no mapping, and so of no
// advice: the machine's setting alone decides (shmem_enabled = always, within_size, force).
bool reserves_large(int fd) {
  struct stat status {};
  bool large = fallocate(fd, 0, 0, 1) == 0 && fstat(fd, &status) == 0 &&
               static_cast<std::uint64_t>(status.st_blocks) * 512 > page_bytes();
  punch_hole(fd, {0, page_bytes()});
  return large;
}

std::uint64_t thread_cpu_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// MADV_COLLAPSE makes a large page whatever the machine's settings for shared memory are, except
// "deny", where there is a small one. False: no more of them had better be made.
bool make_large(std::byte* at) noexcept {
  std::uint64_t before = thread_cpu_ns();
  if (!memory_left(kLargePage)) return false;
  if (madvise(at, page_bytes(), MADV_POPULATE_WRITE) != 0) return false;
  if (madvise(at, kLargePage, MADV_COLLAPSE) != 0) return errno == EAGAIN;
  return thread_cpu_ns() - before <= kLargePageNs;
}

}  // namespace

// What cannot be read is not populated, and is unlocked before it can be.
void* map_sparse(void* address, std::uint64_t bytes, int flags, int fd) noexcept {
  void* at = mmap(address, bytes, PROT_NONE, flags, fd, 0);
  if (at == MAP_FAILED) return at;
  if (munlock(at, bytes) == 0 && mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0) return at;
  int why = errno;
  munmap(at, bytes);
  errno = why;
  return MAP_FAILED;
}

base::Result<int> create_memfd(std::uint64_t bytes, const char* name, PageSizes sizes) {
  if (!within_file_size_limit(bytes)) {
    return base::error("a memory file of {} bytes is over the limit of file sizes (ulimit -f)",
                       bytes);
  }
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return base::errno_error("cannot create a memory file (memfd_create)");
  // The size is sealed: a peer that holds the descriptor cannot turn our accesses into SIGBUS.
  if (fchmod(fd, sizes == PageSizes::kAny ? kAnyPages : kSmallPages) != 0 ||
      ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    base::Error error =
        base::errno_error(fmt::format("cannot size a memory file of {} bytes", bytes));
    close(fd);
    return error;
  }
  if (fallocate(fd, 0, 0, 1) != 0 || fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                                               static_cast<off_t>(page_bytes())) != 0) {
    base::Error error = base::errno_error(
        errno == ENOMEM || errno == ENOSPC
            ? "no memory for the first page of shared memory"
            : "fallocate on a memory file is denied; in a container allow the system call (docker "
              "run --security-opt seccomp=unconfined)");
    close(fd);
    return error;
  }
  return fd;
}

base::Result<DualMapping> DualMapping::create(std::uint64_t bytes, void* app_address,
                                              const char* name) {
  auto fd = create_memfd(bytes, name);
  if (!fd) return fd.error();
  DualMapping mapping;
  mapping.fd_.reset(fd.value());
  mapping.bytes_ = bytes;
  auto app = map_view(mapping.fd_.get(), bytes, app_address);
  if (!app) return app.error();
  mapping.app_ = app.value();
  if (views_are_executable() &&
      mprotect(mapping.app_, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return base::errno_error("shared memory cannot be executable, as the program's stacks are");
  auto runtime = map_view(mapping.fd_.get(), bytes, nullptr);
  if (!runtime) return runtime.error();
  mapping.runtime_ = runtime.value();
  mapping.shown_ = std::vector<std::atomic<bool>>((bytes + kShownStep - 1) / kShownStep);
  mapping.reserves_large_ = reserves_large(mapping.fd_.get());
  if (!set_view_advice(mapping.app_, bytes, mapping.fd_.get()) ||
      !set_view_advice(mapping.runtime_, bytes, mapping.fd_.get())) {
    return base::errno_error("cannot keep shared memory out of child processes (MADV_DONTFORK)");
  }
  return mapping;
}

DualMapping::DualMapping(DualMapping&& other) noexcept { *this = std::move(other); }

DualMapping& DualMapping::operator=(DualMapping&& other) noexcept {
  std::swap(app_, other.app_);
  std::swap(runtime_, other.runtime_);
  std::swap(bytes_, other.bytes_);
  std::swap(fd_, other.fd_);
  std::swap(panes_, other.panes_);
  std::swap(reserves_large_, other.reserves_large_);
  std::swap(shown_, other.shown_);
  return *this;
}

DualMapping::~DualMapping() {
  if (app_ != nullptr) munmap(app_, bytes_);
  if (runtime_ != nullptr) munmap(runtime_, bytes_);
}

std::optional<std::uint64_t> DualMapping::offset_of(const void* address,
                                                    std::uint64_t bytes) const {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  if (const Pane* pane = panes_.at_address(at)) {
    std::uint64_t inside = at - reinterpret_cast<std::uintptr_t>(pane->address);
    if (bytes > pane->span.bytes - inside) return std::nullopt;
    return pane->span.offset + inside;
  }
  std::uint64_t offset = at - reinterpret_cast<std::uintptr_t>(app_);
  if (offset >= bytes_ || bytes > bytes_ - offset) return std::nullopt;
  if (panes_.meets({offset, std::max(bytes, std::uint64_t{1})})) return std::nullopt;
  return offset;
}

base::Result<> DualMapping::place(Span span, void* address) {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  bool whole = (at | span.offset | span.bytes) % page_bytes() == 0 && span.bytes > 0;
  if (!whole || span.offset > bytes_ || span.bytes > bytes_ - span.offset)
    return base::error("no pane of {} bytes of shared memory fits at {}", span.bytes, address);
  if (panes_.meets(span))
    return base::error("two panes share a page of shared memory, at {}", address);
  if (panes_.size() == Panes::kMost)
    return base::error("more than {} stretches of shared memory at addresses of their own",
                       Panes::kMost);
  // Nobody has access to what is left in the view.
  void* left = mmap(app_ + span.offset, span.bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (left == MAP_FAILED) return base::errno_error("cannot take shared memory out of its view");
  madvise(left, span.bytes, MADV_DONTFORK);
  int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
  // Nobody has access here, either, before the fault source watches: an access would make a page.
  void* pane =
      mmap(address, span.bytes, PROT_NONE, flags, fd_.get(), static_cast<off_t>(span.offset));
  if (pane == MAP_FAILED || !set_view_advice(static_cast<std::byte*>(pane), span.bytes, fd_.get()))
    return base::errno_error(
        fmt::format("cannot map {} bytes of shared memory at {}", span.bytes, address));
  panes_.add({span, static_cast<std::byte*>(pane)});
  std::uint64_t end = span.offset + span.bytes;
  for (std::uint64_t step = span.offset / kShownStep; step * kShownStep < end; ++step)
    shown_[step].store(false, std::memory_order_relaxed);
  return {};
}

bool DualMapping::populate(Span span) noexcept {
  if (span.offset > bytes_ || span.bytes > bytes_ - span.offset) {
    errno = EINVAL;
    return false;
  }
  return platform::populate(runtime_ + span.offset, span.bytes);
}

bool DualMapping::reserve(Span span) noexcept {
  if (span.offset > bytes_ || span.bytes > bytes_ - span.offset) {
    errno = EINVAL;
    return false;
  }
  if (reserves_large_) return platform::populate(runtime_ + span.offset, span.bytes);
  return in_steps(span.bytes, [&](std::uint64_t done, std::uint64_t step) {
    return fallocate(fd_.get(), 0, static_cast<off_t>(span.offset + done),
                     static_cast<off_t>(step));
  });
}

void DualMapping::show_in_core(Span span) noexcept {
  for (std::uint64_t at = span.offset / kShownStep; at * kShownStep < span.offset + span.bytes;
       ++at) {
    if (shown_[at].load(std::memory_order_relaxed)) continue;
    std::uint64_t begin = at * kShownStep;
    std::uint64_t end = std::min(begin + kShownStep, bytes_);
    madvise(app_ + begin, end - begin, MADV_DODUMP);
    for (const Pane& pane : panes_.all()) {
      std::uint64_t from = std::max(begin, pane.span.offset);
      std::uint64_t to = std::min(end, pane.span.offset + pane.span.bytes);
      if (from < to) madvise(pane.address + (from - pane.span.offset), to - from, MADV_DODUMP);
    }
    shown_[at].store(true, std::memory_order_relaxed);
  }
}

void expect_file_size_limit() noexcept { file_size_may_be_limited.store(true); }

void DualMapping::write(std::uint64_t offset, const std::byte* from, std::uint64_t bytes) noexcept {
  if (file_size_may_be_limited.load(std::memory_order_relaxed)) {
    std::memcpy(runtime_ + offset, from, bytes);
    return;
  }
  while (bytes > 0) {
    ssize_t written = pwrite(fd_.get(), from, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    TERRANE_CHECK(written > 0, "what was reserved can be written");
    offset += static_cast<std::uint64_t>(written);
    from += written;
    bytes -= static_cast<std::uint64_t>(written);
  }
}

// MADV_POPULATE_WRITE reports a shortage as fallocate does, at the cost of fallocate and a first
// touch, and leaves the pages entered in the mapping.
bool populate(std::byte* at, std::uint64_t bytes) noexcept {
  return in_steps(bytes, [&](std::uint64_t done, std::uint64_t step) {
    return madvise(at + done, step, MADV_POPULATE_WRITE);
  });
}

bool populate_large(std::byte* at, std::uint64_t bytes, bool& large) noexcept {
  std::byte* page = at + -reinterpret_cast<std::uintptr_t>(at) % kLargePage;
  for (; large && page + kLargePage <= at + bytes; page += kLargePage) large = make_large(page);
  return populate(at, bytes);
}

void DualMapping::punch(Span span) noexcept { punch_hole(fd_.get(), span); }

void punch_hole(int fd, Span span) noexcept {
  if (span.bytes == 0) return;
  int result = 0;
  do {
    result = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                       static_cast<off_t>(span.offset), static_cast<off_t>(span.bytes));
  } while (result != 0 && errno == EINTR);
  TERRANE_CHECK(result == 0, "the kernel refuses to take back a span of a memory file");
}

base::Result<SharedMapping> SharedMapping::map(int fd, std::uint64_t bytes,
                                               std::uint64_t alignment) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return base::errno_error("a memory file");
  int seals = fcntl(fd, F_GET_SEALS);
  bool stays = seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  if (bytes == 0 || static_cast<std::uint64_t>(status.st_size) < bytes || !stays) {
    return base::error("{} of {} bytes instead of a sealed memory file of {}",
                       stays ? "one" : "a file", status.st_size, bytes);
  }
  auto view = alignment == 0 ? map_view(fd, bytes, nullptr) : map_aligned(fd, bytes, alignment);
  if (!view) return view.error();
  set_view_advice(view.value(), bytes, fd);
  SharedMapping mapping;
  mapping.data_ = view.value();
  mapping.bytes_ = bytes;
  return mapping;
}

SharedMapping::SharedMapping(SharedMapping&& other) noexcept { *this = std::move(other); }

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(shown_, other.shown_);
  return *this;
}

void SharedMapping::show_in_core(std::uint64_t end) noexcept {
  if (end <= shown_) return;
  end = std::min((end + kShownTail - 1) / kShownTail * kShownTail, bytes_);
  madvise(data_ + shown_, end - shown_, MADV_DODUMP);
  shown_ = end;
}

SharedMapping::~SharedMapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace terrane::platform
