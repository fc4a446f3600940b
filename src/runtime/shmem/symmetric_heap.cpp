#include "runtime/shmem/symmetric_heap.h"

#include <sys/stat.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "platform/cgroup_memory.h"
#include "platform/memory_left.h"
#include "platform/page_size.h"

namespace terrane::runtime::shmem {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = kMiB << 10;
constexpr std::uint64_t kLeastBytes = 64 * kMiB;
// The largest alignment of a block, and the alignment of the heap itself.
constexpr std::uint64_t kAlignment = kGiB;
// Besides the heaps: control areas, statics, the program's own memory.
constexpr std::uint64_t kSpareBytes = 2 * kGiB, kSparePerPe = kGiB;
// Pieces of this size are worth returning to the machine, and getting back as zeros.
constexpr std::uint64_t kPunchBytes = kMiB;
constexpr std::uint64_t kGrantBytes = 16 * kMiB;

std::uint64_t machine_bytes() {
  struct sysinfo machine {};
  if (::sysinfo(&machine) != 0) return 16 * kGiB;
  return (std::uint64_t{machine.totalram} + machine.totalswap) * machine.mem_unit;
}

// The pages that lie completely in a piece; for large pieces only.
platform::Span whole_pages_of(std::uint64_t offset, std::uint64_t bytes) {
  std::uint64_t page = platform::page_bytes();
  std::uint64_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
  return {begin, end - begin};
}

// All pages of which a piece has a part.
platform::Span whole_pages_around(std::uint64_t offset, std::uint64_t bytes) {
  std::uint64_t page = platform::page_bytes();
  std::uint64_t begin = offset / page * page, end = (offset + bytes + page - 1) / page * page;
  return {begin, end - begin};
}

}  // namespace

base::Result<std::unique_ptr<SymmetricHeap>> SymmetricHeap::reserve(std::uint64_t at_least,
                                                                    std::uint32_t on_host) {
  std::uint64_t bytes = std::bit_ceil(std::max(
      {std::min(machine_bytes(), platform::comfortable_mapping_bytes()), at_least, kLeastBytes}));
  auto fits = [&] {
    return platform::address_space_has(kSpareBytes + on_host * (kSparePerPe + bytes));
  };
  while (bytes > kLeastBytes && !fits()) bytes /= 2;
  if (bytes < at_least) {
    return base::error(
        "SHMEM_SYMMETRIC_SIZE asks for {} bytes, but a process may map heaps of {} "
        "bytes for the {} PEs of this host; ask for less, or raise ulimit -v",
        at_least, bytes, on_host);
  }
  auto fd = platform::create_memfd(bytes, "terrane-heap", platform::PageSizes::kAny);
  if (!fd) return fd.error();
  base::UniqueFd owned(fd.value());
  auto mapping = platform::SharedMapping::map(owned.get(), bytes, std::min(bytes, kAlignment));
  if (!mapping) return mapping.error();
  return std::unique_ptr<SymmetricHeap>(
      new SymmetricHeap(std::move(owned), std::move(mapping).value(), on_host));
}

SymmetricHeap::SymmetricHeap(base::UniqueFd fd, platform::SharedMapping mapping,
                             std::uint32_t on_host)
    : fd_(std::move(fd)),
      mapping_(std::move(mapping)),
      on_host_(on_host),
      ranges_(mapping_.bytes()),
      limit_(mapping_.bytes()) {}

void SymmetricHeap::agree_on(std::uint64_t bytes) {
  std::lock_guard hold(mutex_);
  limit_ = bytes;
  ranges_ = FreeRanges(bytes);
}

std::optional<std::uint64_t> SymmetricHeap::take(std::uint64_t bytes, std::uint64_t alignment,
                                                 bool zeroed) {
  std::lock_guard hold(mutex_);
  if (alignment > kAlignment) return std::nullopt;
  auto offset = ranges_.take(bytes, alignment);
  if (!offset) return offset;
  std::uint64_t used_end = std::min(untouched_from_, *offset + bytes);
  if (zeroed && *offset < used_end) zero(*offset, used_end - *offset);
  untouched_from_ = std::max(untouched_from_, *offset + FreeRanges::rounded(bytes));
  mapping_.show_in_core(untouched_from_);
  return offset;
}

void SymmetricHeap::give_back(std::uint64_t offset) {
  std::lock_guard hold(mutex_);
  std::uint64_t bytes = FreeRanges::rounded(ranges_.size_at(offset).value_or(0));
  ranges_.give_back(offset);
  punch(offset, bytes);
}

bool SymmetricHeap::resize(std::uint64_t offset, std::uint64_t bytes) {
  std::lock_guard hold(mutex_);
  std::uint64_t before = FreeRanges::rounded(ranges_.size_at(offset).value_or(0));
  if (!ranges_.resize(offset, bytes)) return false;
  std::uint64_t after = FreeRanges::rounded(bytes);
  if (after < before) punch(offset + after, before - after);
  untouched_from_ = std::max(untouched_from_, offset + after);
  mapping_.show_in_core(untouched_from_);
  return true;
}

std::optional<std::uint64_t> SymmetricHeap::size_at(std::uint64_t offset) const {
  std::lock_guard hold(mutex_);
  return ranges_.size_at(offset);
}

bool SymmetricHeap::inside_block(std::uint64_t offset, std::uint64_t bytes) const {
  std::lock_guard hold(mutex_);
  return ranges_.inside_block(offset, bytes);
}

void SymmetricHeap::clear() {
  std::lock_guard hold(mutex_);
  platform::punch_hole(fd_.get(), whole_pages_around(0, untouched_from_));
  untouched_from_ = 0;
  ranges_ = FreeRanges(limit_);
}

// The resident part of the blocks is already missing in the memory that the machine has left.
bool SymmetricHeap::affords(std::uint64_t more) {
  std::lock_guard hold(mutex_);
  if (more > limit_) return false;
  if (more <= granted_) {
    granted_ -= more;
    return true;
  }
  std::uint64_t taken = ranges_.taken_bytes(), resident = resident_bytes();
  std::uint64_t promised = taken > resident ? taken - resident : 0;
  auto has = [&](std::uint64_t bytes) {
    return platform::memory_left(bytes) && platform::cgroup_memory_left() >= bytes;
  };
  bool plenty = has((promised + more + kGrantBytes) * on_host_);
  granted_ = plenty ? kGrantBytes : 0;
  return plenty || has((promised + more) * on_host_);
}

std::uint64_t SymmetricHeap::resident_bytes() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

void SymmetricHeap::punch(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes >= kPunchBytes) platform::punch_hole(fd_.get(), whole_pages_of(offset, bytes));
}

void SymmetricHeap::zero(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes < kPunchBytes) {
    std::memset(data() + offset, 0, bytes);
    return;
  }
  platform::Span pages = whole_pages_of(offset, bytes);
  std::uint64_t end = pages.offset + pages.bytes;
  platform::punch_hole(fd_.get(), pages);
  std::memset(data() + offset, 0, pages.offset - offset);
  std::memset(data() + end, 0, offset + bytes - end);
}

}  // namespace terrane::runtime::shmem
