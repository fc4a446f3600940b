#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/mapping.h"
#include "platform/page_scan.h"

namespace terrane::platform {

// Owns one userfaultfd in SIGBUS mode, and guarantees that an operation on a range either is
// complete on return or has ended the process. Addresses are those of a registered view,
// page-aligned. All but open and watch are async-signal-safe and may run in several threads at
// once.
class Userfault {
 public:
  // Opens the descriptor with what every mode needs (SIGBUS; MISSING, MINOR and WP on memfds), and
  // WP_ASYNC if asked.
  static base::Result<Userfault> open(bool async_protect);

  Userfault(Userfault&&) noexcept = default;
  Userfault& operator=(Userfault&&) noexcept = default;

  // Registers MISSING | MINOR | WP: with MINOR alone a hole of the memfd would read as silent
  // zeros.
  base::Result<void> watch(std::byte* view, std::uint64_t bytes) const;

  // Whether this kernel can enter a page already protected (Linux 6.4); `address`: a missing page
  // that has memory.
  bool can_enter_protected(std::uintptr_t address) const;
  // Enters the pages that are missing (UFFDIO_CONTINUE); their memory must exist.
  void enter(std::uintptr_t address, std::uint64_t bytes, bool write_protected) const;
  // Allocates memory for a hole, copies `source` into it and enters it, in one step and without
  // zeroing it first (UFFDIO_COPY). Returns how many bytes from the start are done: fewer than
  // asked when a page has memory already (errno EEXIST) or memory is short (errno ENOMEM).
  std::uint64_t copy_into_hole(std::uintptr_t address, const std::byte* source, std::uint64_t bytes,
                               bool write_protected) const;
  void set_write_protection(std::uintptr_t address, std::uint64_t bytes, bool on) const;

 private:
  explicit Userfault(int fd) : fd_(fd) {}

  base::UniqueFd fd_;
  PageScan missing_;  // to step over long runs that are entered already
};

}  // namespace terrane::platform
