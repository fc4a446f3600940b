#pragma once

#include <cstdint>

namespace terrane::platform {

// Ends the process with "terrane: <what> at <address>: <errno's name>". Async-signal-safe.
[[noreturn]] void kernel_refused(const char* what, std::uintptr_t address,
                                 int error_number) noexcept;

}  // namespace terrane::platform
