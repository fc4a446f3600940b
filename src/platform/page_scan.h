#pragma once

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"
#include "platform/mapping.h"

namespace terrane::platform {

// Owns a descriptor of this process's page map and asks the kernel which entries of a view are of
// which kind (PAGEMAP_SCAN, Linux 6.7). Async-signal-safe and usable in several threads at once,
// but for the constructor.
class PageScan {
 public:
  PageScan();

  // False on older kernels and where /proc is not mounted.
  bool available() const { return static_cast<bool>(fd_); }

  // Appends the runs written since they were last protected and protects them again, each page in
  // one atomic step. Offsets are counted from `view`. Pages without an entry or a protection mark
  // count as written.
  void take_written(std::uintptr_t view, Span span, std::vector<Span>& written) const;
  // The same, but protects nothing.
  void look_written(std::uintptr_t view, Span span, std::vector<Span>& written) const;
  // The first run in the span of pages that have no entry and a protection mark: they were
  // protected when their entry went. If there is none, an empty one at the end of the span.
  Span first_protected_gap(std::uintptr_t view, Span span) const;
  // The first page at or after `address` that has no entry, or `end`.
  std::uintptr_t first_missing(std::uintptr_t address, std::uintptr_t end) const;

 private:
  void collect(std::uintptr_t view, Span span, std::uint64_t flags,
               std::vector<Span>& written) const;

  base::UniqueFd fd_;
};

}  // namespace terrane::platform
