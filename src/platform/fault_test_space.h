#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "platform/fault_source.h"
#include "platform/mapping.h"
#include "platform/page_size.h"

namespace terrane::platform {

// For tests of every source: what the parameter is called.
inline std::string fault_source_name(const testing::TestParamInfo<FaultSourceKind>& info) {
  return info.param == FaultSourceKind::kUserfaultfdAsync  ? "async"
         : info.param == FaultSourceKind::kUserfaultfdSync ? "sync"
                                                           : "sigsegv";
}

// For tests: a small watched space whose handler gives every page, at its first fault, bytes that
// name it (page number plus 1), maps it protected, and lets writes through where they fault. Counts
// what it saw.
class FaultTestSpace {
 public:
  FaultTestSpace(FaultSourceKind kind, std::size_t pages, void* app_address = nullptr)
      : filled_(pages), shared_(pages) {
    auto mapping = DualMapping::create(pages * page_bytes(), app_address, "terrane-test");
    TERRANE_CHECK(mapping.ok(), "no mapping");
    mapping_ = std::move(mapping).value();
    auto source = make_fault_source(kind, mapping_, &FaultTestSpace::on_fault, this);
    TERRANE_CHECK(source.ok(), "no fault source");
    source_ = std::move(source).value();
  }

  FaultSource& source() { return *source_; }
  DualMapping& mapping() { return mapping_; }
  bool scans() const { return source_->detection() == WriteDetection::kScan; }

  std::uint64_t faults() const { return faults_.load(); }
  Access last_access() const { return last_access_.load(); }
  const void* handler_frame() const { return handler_frame_.load(); }
  void refuse_all() { refuses_ = true; }

  static unsigned char mark(std::size_t page) { return static_cast<unsigned char>(page + 1); }
  static Span span(std::size_t first, std::size_t count) {
    return {first * page_bytes(), count * page_bytes()};
  }

  // The first byte of a page as the program sees it, and as the runtime does.
  volatile unsigned char& app(std::size_t page, std::size_t byte = 0) {
    return *reinterpret_cast<volatile unsigned char*>(mapping_.app() + page * page_bytes() + byte);
  }
  volatile unsigned char& runtime(std::size_t page, std::size_t byte = 0) {
    return *reinterpret_cast<volatile unsigned char*>(mapping_.runtime() + page * page_bytes() +
                                                      byte);
  }

  void read(std::size_t page) { [[maybe_unused]] unsigned char value = app(page); }

  // Populates and enters a span without a fault.
  void map(std::size_t first, std::size_t count, Access allowed) {
    TERRANE_CHECK(mapping_.populate(span(first, count)), "no memory");
    for (std::size_t page = first; page < first + count; ++page) filled_[page] = true;
    source_->map(span(first, count), allowed);
  }

  // Enters a span for reading: the next store to each page faults.
  void share(std::size_t first, std::size_t count) {
    TERRANE_CHECK(mapping_.populate(span(first, count)), "no memory");
    while (busy_.test_and_set(std::memory_order_acquire)) {
    }
    for (std::size_t page = first; page < first + count; ++page) {
      filled_[page] = true;
      shared_[page] = true;
    }
    source_->share(span(first, count));
    busy_.clear(std::memory_order_release);
  }

  // The written pages of a span, one by one.
  std::vector<std::size_t> written(std::size_t first, std::size_t count) {
    std::vector<Span> runs;
    source_->scan(span(first, count), runs);
    std::vector<std::size_t> pages;
    for (const Span& run : runs) {
      for (std::uint64_t at = 0; at < run.bytes; at += page_bytes()) {
        pages.push_back((run.offset + at) / page_bytes());
      }
    }
    return pages;
  }

 private:
  static FaultVerdict on_fault(void* context, std::uint64_t offset, Access wanted) {
    auto& space = *static_cast<FaultTestSpace*>(context);
    space.handler_frame_ = __builtin_frame_address(0);
    errno = 12345;  // must not reach the program
    if (space.refuses_) return FaultVerdict::kForeign;
    ++space.faults_;
    space.last_access_ = wanted;
    space.resolve(offset / page_bytes(), wanted);
    return FaultVerdict::kRetry;
  }

  void resolve(std::size_t page, Access wanted) {
    while (busy_.test_and_set(std::memory_order_acquire)) {
    }
    if (shared_[page]) {
      shared_[page] = wanted == Access::kRead;
      if (shared_[page]) {
        source_->share(span(page, 1));
      } else {
        source_->map(span(page, 1), Access::kWrite);
        source_->unprotect(span(page, 1));
      }
    } else if (filled_[page]) {
      source_->remap(span(page, 1));
    } else {
      std::memset(mapping_.runtime() + page * page_bytes(), mark(page), page_bytes());
      filled_[page] = true;
      source_->map(span(page, 1), Access::kRead);
    }
    if (wanted == Access::kWrite && !scans()) source_->unprotect(span(page, 1));
    busy_.clear(std::memory_order_release);
  }

  DualMapping mapping_;
  std::unique_ptr<FaultSource> source_;
  std::vector<bool> filled_;
  std::vector<bool> shared_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::atomic<std::uint64_t> faults_{0};
  std::atomic<Access> last_access_{Access::kRead};
  std::atomic<const void*> handler_frame_{nullptr};
  std::atomic<bool> refuses_{false};
};

// Every second page of this area is protected otherwise, so each is a mapping of its own.
class ManyMappings {
 public:
  explicit ManyMappings(std::uint64_t count)
      : bytes_(count * page_bytes()),
        area_(static_cast<char*>(
            mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    for (std::uint64_t page = 1; page < count; page += 2) {
      if (mprotect(area_ + page * page_bytes(), page_bytes(), PROT_READ) != 0) break;
    }
  }
  ~ManyMappings() { munmap(area_, bytes_); }

 private:
  std::uint64_t bytes_;
  char* area_;
};

}  // namespace terrane::platform
