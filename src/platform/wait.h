#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace terrane::platform {

static_assert(
    sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
    std::atomic<std::uint32_t>::is_always_lock_free);  // a futex word, also across processes

// The processors that a process may run on, a bit each; those beyond 1024 are not counted.
using ProcessorSet = std::array<std::uint64_t, 16>;
ProcessorSet usable_processors();

// Sleeps while *word == expected, at most timeout_ns (0: no limit). May return early. Works across
// processes on shared mappings. wake_all wakes every sleeper.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns);
void futex_wake_all(std::atomic<std::uint32_t>& word);

// Monotonic nanoseconds (CLOCK_MONOTONIC).
std::uint64_t now_ns();

}  // namespace terrane::platform
