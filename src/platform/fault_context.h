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

// Bit 4: the processor was fetching an instruction.
inline bool fetches_instruction(const ucontext_t& context) {
  return (context.uc_mcontext.gregs[REG_ERR] & 16) != 0;
}

#elif defined(__aarch64__)

// The exception syndrome (ESR_EL1), which the kernel appends as a record; 0 where it is missing.
inline std::uint64_t syndrome_of(const ucontext_t& context) {
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
    return syndrome;
  }
  return 0;
}

// WnR is bit 6 (Arm ARM, ISS of a data abort). Without a syndrome: taking a read for a write costs
// a twin too many, the contrary would never end.
inline Access faulting_access(const ucontext_t& context) {
  std::uint64_t syndrome = syndrome_of(context);
  bool write = syndrome == 0 || (syndrome & (1u << 6)) != 0;
  return write ? Access::kWrite : Access::kRead;
}

// The exception class, bits 26 to 31: 0x20 and 0x21 are instruction aborts.
inline bool fetches_instruction(const ucontext_t& context) {
  std::uint64_t exception_class = syndrome_of(context) >> 26 & 0x3f;
  return exception_class == 0x20 || exception_class == 0x21;
}

#else

// Unknown here: taking a read for a write costs a twin too many, the contrary would never end.
inline Access faulting_access(const ucontext_t&) { return Access::kWrite; }
inline bool fetches_instruction(const ucontext_t&) { return false; }

#endif

}  // namespace terrane::platform
