#pragma once

#include <cstdint>

// The times and counts of all waits (docs/design/waiting.md). Any value gives correct results; a
// bad one is slow.
namespace terrane::waiting {

// Looks before a wait reads the clock: 1 to 2 us, which is enough for most answers on one host.
inline constexpr std::uint32_t kSpins = 64;
// How long a wait polls if other threads need the processor: as long as the wake-up of a sleeping
// thread takes on a virtual machine, 30 to 100 us.
inline constexpr std::uint64_t kCrowdedNs = 100'000;
// The same of a wait for a version of a chunk, beside a competitor that computes. The kernel often
// puts both sides on the other processor, where a poll only delays the answer; and a processor that
// computes is not halted, so that a sleeping thread wakes at once.
inline constexpr std::uint64_t kVersionCrowdedNs = 5'000;
// Minimum number of looks of such a wait, because one yield may last milliseconds.
inline constexpr std::uint32_t kCrowdedLooks = 16;
// How long a wait polls if no other thread needs the processor. A halted processor sometimes takes
// milliseconds to return.
inline constexpr std::uint64_t kAloneNs = 5'000'000;
// After this time a waiting thread yields to a handler thread that is awake. Before, the waiting
// thread itself delivers most of the messages for which the handler thread was woken.
inline constexpr std::uint64_t kHandlerSoonNs = 20'000;

// A longer pause between two looks means that the thread did not have its processor.
inline constexpr std::uint64_t kLostNs = 200'000;
// How long waits yield after such a pause.
inline constexpr std::uint64_t kSharesNs = 100'000'000;
// After this many yields a thread asks the kernel whether another thread used one of them.
inline constexpr std::uint32_t kYieldsCounted = 256;
// A yield that lasts longer was used by a competing process.
inline constexpr std::uint64_t kTakenNs = 20'000;
// A yield that lasts longer went to a program that computes until the next tick of the kernel.
inline constexpr std::uint64_t kKeptNs = 3'000'000;
// How long waits yield nothing after that. The time doubles at each repetition, up to the longest.
inline constexpr std::uint64_t kNoYieldNs = 50'000'000;
inline constexpr std::uint64_t kLongestNoYieldNs = 1'000'000'000;

// Bound on every sleep. Then a thread looks for deaths and for the end of the job.
inline constexpr std::uint64_t kSleepNs = 100'000'000;
// How often a thread polls while it works on an operation that waits for other nodes. Each poll is
// a system call over tcp; fewer polls let other nodes wait longer.
inline constexpr std::uint64_t kPollEveryNs = 10'000;
// After this many useless wake-ups in a row, messages no longer wake the handler thread.
inline constexpr std::uint32_t kIdleWakes = 4;
// How often the handler thread then looks by itself: the shortest and the longest interval.
inline constexpr std::uint64_t kFirstLookNs = 1'000'000;
inline constexpr std::uint64_t kSeldomLookNs = 20'000'000;
// For waits that read the clock only to report their length: looks between two readings. A look
// that yields lasts milliseconds.
inline constexpr std::uint32_t kLooksAtClock = 16;
// Looks of the handler thread before it recomputes how often to look.
inline constexpr std::uint64_t kLooks = 8;
// Longest extended turn: a lock's token stays on its node although another node waits for it.
inline constexpr std::uint64_t kTurnNs = 50'000;
// How often the handler thread looks at extended turns.
inline constexpr std::uint64_t kWatchTurnsNs = 1'000'000;
// After the loss of a peer, the time in which the launcher may end the job with a better message.
inline constexpr std::uint64_t kLossGraceNs = 5'000'000'000;
// The first and the longest sleep of a thread that no other thread wakes, because it waits for a
// plain store or for the success of a retry.
inline constexpr std::uint64_t kFirstNapNs = 20'000;
inline constexpr std::uint64_t kLongestNapNs = 1'000'000;

}  // namespace terrane::waiting
