#pragma once

#include <linux/types.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include <cstdint>

// The kernel interface as far as Debian 12's headers (Linux 6.1) do not have it:
// include/uapi/linux/userfaultfd.h and include/uapi/linux/fs.h of Linux 6.7,
// Documentation/admin-guide/mm/pagemap.rst.
namespace terrane::platform::abi {

inline constexpr std::uint64_t kUserModeOnly =
    1;  // userfaultfd(2) flag UFFD_USER_MODE_ONLY, Linux 5.11
inline constexpr std::uint64_t kFeatureWpAsync = 1 << 15;  // UFFD_FEATURE_WP_ASYNC, Linux 6.7
inline constexpr std::uint64_t kContinueModeWp = 1 << 1;   // UFFDIO_CONTINUE_MODE_WP, Linux 6.4
inline constexpr unsigned long kDeviceNew =
    _IO(0xAA, 0x00);  // USERFAULTFD_IOC_NEW on /dev/userfaultfd, Linux 6.1

// Categories of PAGEMAP_SCAN.
inline constexpr std::uint64_t kPageIsWritten = 1 << 1;
inline constexpr std::uint64_t kPageIsPresent = 1 << 3;
inline constexpr std::uint64_t kPageIsSwapped = 1 << 4;

// Flags of PAGEMAP_SCAN.
inline constexpr std::uint64_t kScanWpMatching = 1 << 0;
inline constexpr std::uint64_t kScanCheckWpAsync = 1 << 1;

struct PageRegion {  // struct page_region
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};

struct ScanArgument {  // struct pm_scan_arg
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t vec;
  std::uint64_t vec_len;
  std::uint64_t max_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};
static_assert(sizeof(PageRegion) == 24 && sizeof(ScanArgument) == 96);

inline constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArgument);

}  // namespace terrane::platform::abi
