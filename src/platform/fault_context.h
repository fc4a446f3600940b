#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstring>

#include "platform/fault_source.h"

namespace terrane::platform {

#if defined(__x86_64__)

// The page-fault error code that the processor pushed; bit 1 says write (Intel SDM vol. 3A, 4.7).
inline Access faulting_access(const ucontext_t& context) {
  return (context.uc_mcontext.gregs[REG_ERR] & 2) != 0 ? Access::kWrite : Access::kRead;
}

#elif defined(__aarch64__)

// The kernel appends the exception syndrome (ESR_EL1) as a record; WnR is its bit 6 (Arm ARM, ISS
// of a data abort).
inline Access faulting_access(const ucontext_t& context) {
  constexpr std::uint32_t kEsrMagic = 0x45535201;
  struct Head {
    std::uint32_t magic, size;
  } head;
  const auto* record = reinterpret_cast<const unsigned char*>(context.uc_mcontext.__reserved);
  const auto* end = record + sizeof context.uc_mcontext.__reserved;
  for (; record + sizeof head + 8 <= end; record += head.size) {
    std::memcpy(&head, record, sizeof head);
    if (head.magic == 0 || head.size < sizeof head) break;
    if (head.magic != kEsrMagic) continue;
    std::uint64_t syndrome;
    std::memcpy(&syndrome, record + sizeof head, sizeof syndrome);
    return (syndrome & (1u << 6)) != 0 ? Access::kWrite : Access::kRead;
  }
  return Access::kWrite;
}

#else

// Unknown here: taking a read for a write costs a twin too many, the contrary would never end.
inline Access faulting_access(const ucontext_t&) { return Access::kWrite; }

#endif

}  // namespace terrane::platform
