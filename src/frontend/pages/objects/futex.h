#pragma once

#include <time.h>

#include <cstdint>

namespace terrane::frontend::pages {

// futex(2) on a word in shared memory, for threads of all nodes: waits while the word has a value,
// and wake-ups, as the C++ library's atomics, latches and futures use them. Words that change by
// calls (-fno-inline-atomics) are seen at once, others as any shared memory. -1 and errno, or 0, or
// how many threads may have been woken; ENOSYS: an operation that is not served.
long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* time);

}  // namespace terrane::frontend::pages
