#include "platform/shared_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "platform/page_size.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kInMemory = std::uint64_t{3} << 62;  // present, or swapped out
constexpr std::size_t kEntries = 512;

// The bytes at `begin` on their way to the file.
class Copy {
 public:
  Copy(int fd, std::uint64_t offset, std::uintptr_t begin)
      : fd_(fd), offset_(offset), begin_(begin) {}

  bool write(std::uintptr_t from, std::uintptr_t to) {
    while (from < to) {
      long done = ::syscall(SYS_pwrite64, fd_, from, to - from, offset_ + (from - begin_));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      from += static_cast<std::uintptr_t>(done);
    }
    return true;
  }

  // Only the pages that are in memory; all of them where the kernel does not tell which.
  bool write_present(std::uintptr_t from, std::uintptr_t to) {
    long pagemap = ::syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0) return write(from, to);
    bool written = write_present(from, to, pagemap);
    ::syscall(SYS_close, pagemap);
    return written;
  }

 private:
  bool write_present(std::uintptr_t from, std::uintptr_t to, long pagemap) {
    while (from < to) {
      std::uint64_t entries[kEntries];
      std::size_t wanted = std::min<std::size_t>(kEntries, (to - from) / page_bytes());
      long bytes = ::syscall(SYS_pread64, pagemap, entries, wanted * sizeof entries[0],
                             from / page_bytes() * sizeof entries[0]);
      if (bytes < static_cast<long>(sizeof entries[0])) return write(from, to);
      std::size_t got = static_cast<std::size_t>(bytes) / sizeof entries[0];
      if (!write_runs(from, {entries, got})) return false;
      from += got * page_bytes();
    }
    return true;
  }

  bool write_runs(std::uintptr_t from, std::span<const std::uint64_t> entries) {
    for (std::size_t i = 0; i < entries.size();) {
      std::size_t run = i;
      while (run < entries.size() && (entries[run] & kInMemory) != 0) ++run;
      if (run == i) {
        ++i;
        continue;
      }
      if (!write(from + i * page_bytes(), from + run * page_bytes())) return false;
      i = run;
    }
    return true;
  }

  int fd_;
  std::uint64_t offset_;
  std::uintptr_t begin_;
};

}  // namespace

base::Result<> copy_pages(const WritablePages& pages, int fd, std::uint64_t offset) {
  Copy copy(fd, offset, pages.begin);
  if (!copy.write(pages.begin, pages.file_end) || !copy.write_present(pages.file_end, pages.end))
    return base::errno_error("cannot copy static data into a memory file");
  return {};
}

base::Result<> share_pages(const WritablePages& pages, int fd, std::uint64_t offset) {
  if (auto copied = copy_pages(pages, fd, offset); !copied) return copied;
  long mapped = ::syscall(SYS_mmap, pages.begin, pages.end - pages.begin, pages.protection,
                          MAP_SHARED | MAP_FIXED, fd, offset);
  if (mapped == -1) return base::errno_error("cannot map a memory file over static data");
  return {};
}

}  // namespace terrane::platform
