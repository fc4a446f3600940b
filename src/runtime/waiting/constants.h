#pragma once

#include <cstdint>

// All times and counts by which threads wait (docs/design/waiting.md). Any value gives right
// results; a bad one is slow.
namespace terrane::runtime::waiting {

// Looks before a wait reads the clock: 1 to 2 us, as long as most answers on one host take.
inline constexpr std::uint32_t kSpins = 64;
// How long a wait polls where others need the processor: what the wake-up of a sleeping thread
// costs on a virtual machine, 30 to 100 us.
inline constexpr std::uint64_t kCrowdedNs = 100'000;
// Looks that such a wait takes at least, since one that yields may last milliseconds.
inline constexpr std::uint32_t kCrowdedLooks = 16;
// How long a wait polls where nobody else needs the processor: a processor that halts takes
// milliseconds to come back at times.
inline constexpr std::uint64_t kAloneNs = 5'000'000;
// When a waiting thread yields to a handler thread that is awake: before, the waiting thread itself
// takes in most of what the handler thread was woken for.
inline constexpr std::uint64_t kHandlerSoonNs = 20'000;

// A pause between two looks that is longer means that the thread did not have its processor.
inline constexpr std::uint64_t kLostNs = 200'000;
// How long waits yield after that.
inline constexpr std::uint64_t kSharesNs = 100'000'000;
// After so many yields a thread asks the kernel whether another thread used one of them.
inline constexpr std::uint32_t kYieldsCounted = 256;
// A yield that lasts longer was used by a competitor.
inline constexpr std::uint64_t kTakenNs = 20'000;
// A yield that lasts longer went to a program that computes until the next tick of the kernel.
inline constexpr std::uint64_t kKeptNs = 3'000'000;
// How long nothing is yielded after that; twice as long each time, up to the longest.
inline constexpr std::uint64_t kNoYieldNs = 50'000'000;
inline constexpr std::uint64_t kLongestNoYieldNs = 1'000'000'000;

// A bound on every sleep, after which a thread looks after deaths and the end of the job.
inline constexpr std::uint64_t kSleepNs = 100'000'000;
// How often a thread polls while it works for an operation that waits for other nodes: a system
// call over tcp, against the time that they wait.
inline constexpr std::uint64_t kPollEveryNs = 10'000;
// Wake-ups of a handler thread in a row that were of no use, before messages wake it no longer.
inline constexpr std::uint32_t kIdleWakes = 4;
// How often it looks by itself then: at first, and at most so seldom.
inline constexpr std::uint64_t kFirstLookNs = 1'000'000;
inline constexpr std::uint64_t kSeldomLookNs = 20'000'000;
// Looks between two of a wait that reads the clock only to report how long it lasts: one that
// yields lasts milliseconds.
inline constexpr std::uint32_t kLooksAtClock = 16;
// Looks that the handler thread takes before it asks itself again how often to look.
inline constexpr std::uint64_t kLooks = 8;
// How long a lock's token stays on its node at most though another node waits for it.
inline constexpr std::uint64_t kTurnNs = 50'000;
// How often the handler thread looks after such tokens.
inline constexpr std::uint64_t kWatchTurnsNs = 1'000'000;
// After a peer is lost, the time in which the launcher may end the job with a better sentence.
inline constexpr std::uint64_t kLossGraceNs = 5'000'000'000;
// The sleeps of a thread that nobody wakes, since what it waits for is a plain store or a try: the
// first, and the longest.
inline constexpr std::uint64_t kFirstNapNs = 20'000;
inline constexpr std::uint64_t kLongestNapNs = 1'000'000;

}  // namespace terrane::runtime::waiting
