#pragma once

#include <cstddef>
#include <cstdint>

namespace terrane::platform {

// memcpy from or to the application view, for system calls: false where a byte lies in no
// allocation (the call then fails with EFAULT; a part may be copied), instead of the program's
// death. Missing pages come as they do for any access. Async-signal-safe, any thread; `to` and
// `from` do not overlap.
bool guarded_copy(void* to, const void* from, std::size_t bytes);

// The same for a string: copies up to and with its end, at most `capacity` bytes. False also where
// it is longer.
bool guarded_copy_string(char* to, const char* from, std::size_t capacity);

// For the handlers of faults: whether this thread is in a guarded copy that touches the address,
// and the way out of it.
bool is_guarded(std::uintptr_t address);
[[noreturn]] void fail_guarded_copy();

}  // namespace terrane::platform
