#include "platform/page_scan.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/kernel_refused.h"
#include "platform/uffd_abi.h"

namespace terrane::platform {
namespace {

// Regions taken from one call; 6 KiB of the (alternate signal) stack. The kernel allocates as much
// for each call: up to 8 KiB it keeps at hand, and more costs each call 0.4 us. A call costs half a
// microsecond, or 15 with running sibling threads, so a span whose every other page is written
// should not need many.
constexpr std::size_t kRegionsPerCall = 256;

void append_run(std::vector<Span>& runs, std::uint64_t offset, std::uint64_t bytes,
                std::size_t first) {
  if (runs.size() > first && runs.back().offset + runs.back().bytes == offset) {
    runs.back().bytes += bytes;
  } else {
    runs.push_back({offset, bytes});
  }
}

}  // namespace

PageScan::PageScan() : fd_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
  if (!fd_) return;
  abi::ScanArgument empty{};  // no range at all: answers whether the call exists
  empty.size = sizeof empty;
  if (ioctl(fd_.get(), abi::kPagemapScan, &empty) < 0) fd_.reset();
}

void PageScan::take_written(std::uintptr_t view, Span span, std::vector<Span>& written) const {
  collect(view, span, abi::kScanWpMatching | abi::kScanCheckWpAsync, written);
}

void PageScan::look_written(std::uintptr_t view, Span span, std::vector<Span>& written) const {
  collect(view, span, 0, written);
}

// With these masks alone the kernel counts as written what has no entry and no mark.
void PageScan::collect(std::uintptr_t view, Span span, std::uint64_t flags,
                       std::vector<Span>& written) const {
  abi::PageRegion regions[kRegionsPerCall];
  abi::ScanArgument scan{};
  scan.size = sizeof scan;
  scan.flags = flags;
  scan.start = view + span.offset;
  scan.end = scan.start + span.bytes;
  scan.vec = reinterpret_cast<std::uintptr_t>(regions);
  scan.vec_len = kRegionsPerCall;
  scan.category_mask = abi::kPageIsWritten;
  scan.return_mask = abi::kPageIsWritten;
  std::size_t first = written.size();
  while (scan.start < scan.end) {
    int count = ioctl(fd_.get(), abi::kPagemapScan, &scan);
    if (count < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      kernel_refused("PAGEMAP_SCAN", scan.start, errno);
    }
    for (int i = 0; i < count; ++i) {
      append_run(written, regions[i].start - view, regions[i].end - regions[i].start, first);
    }
    scan.start = scan.walk_end;
  }
}

// Entries of pages that are being moved (compaction) this moment match, too.
Span PageScan::first_protected_gap(std::uintptr_t view, Span span) const {
  abi::PageRegion region{};
  abi::ScanArgument scan{};
  scan.size = sizeof scan;
  scan.start = view + span.offset;
  scan.end = scan.start + span.bytes;
  scan.vec = reinterpret_cast<std::uintptr_t>(&region);
  scan.vec_len = 1;
  scan.category_inverted = abi::kPageIsWritten;
  scan.category_mask = abi::kPageIsSwapped | abi::kPageIsWritten;
  scan.return_mask = abi::kPageIsSwapped;
  int count = 0;
  while ((count = ioctl(fd_.get(), abi::kPagemapScan, &scan)) < 0)
    if (errno != EINTR && errno != EAGAIN) kernel_refused("PAGEMAP_SCAN", scan.start, errno);
  if (count == 0) return {span.offset + span.bytes, 0};
  return {region.start - view, region.end - region.start};
}

std::uintptr_t PageScan::first_missing(std::uintptr_t address, std::uintptr_t end) const {
  abi::PageRegion region{};
  abi::ScanArgument scan{};
  scan.size = sizeof scan;
  scan.start = address;
  scan.end = end;
  scan.vec = reinterpret_cast<std::uintptr_t>(&region);
  scan.vec_len = 1;
  scan.category_inverted = abi::kPageIsPresent;
  scan.category_mask = abi::kPageIsPresent;
  scan.return_mask = abi::kPageIsPresent;
  int count = ioctl(fd_.get(), abi::kPagemapScan, &scan);
  if (count < 0) return address;  // only a shortcut: the caller tries page by page
  return count == 0 ? end : region.start;
}

}  // namespace terrane::platform
