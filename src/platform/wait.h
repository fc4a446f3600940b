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
// How many threads of the job can want a processor at once, against how many processors they share.
// Set at start; read by every wait. Until then everybody spins.
void share_processors(std::uint32_t threads, std::uint32_t processors);
bool threads_fit_processors();

// Whether another thread of the node may need the processor of who waits, who then offers it: at
// once, for what that one has been left to do; or soon, if nothing comes meanwhile.
enum class Owed : std::uint8_t { kNothing, kSoon, kNow };

// One wait: call pause() between looks. Where the job's runnable threads fit the processors it
// keeps the processor, for some milliseconds, unless other programs compete for it
// (platform/rivals.h); elsewhere it offers it to others between looks, for some 100 us. It returns
// false, now and in every later call, when the caller had better sleep.
class Backoff {
 public:
  // A thread of the caller's own node waits for the same processor, perhaps, and has first to do
  // what is waited for: so long it keeps it at most, where the threads fit. 0: not at all.
  static constexpr std::uint64_t kBriefNs = 100'000;

  Backoff() = default;
  explicit Backoff(std::uint64_t keeps_ns) : keeps_ns_(keeps_ns) {}
  bool pause(Owed owed = Owed::kNothing);
  // Something else has come meanwhile, which may go on: the time until the caller had better sleep
  // begins again.
  void renew();
  // What is waited for has not been late so far.
  bool is_short() const;

 private:
  bool is_long(std::uint64_t now_ns) const;

  std::uint64_t keeps_ns_ = ~0ull;
  std::uint64_t began_ns_ = 0;
  std::uint64_t looked_ns_ = 0;
  std::uint32_t rounds_ = 0;
  bool fits_ = false;  // the runnable threads, the processors
};

// Sleeps while *word == expected, at most timeout_ns (0: no limit). May return early. Works across
// processes on shared mappings. wake_all wakes every sleeper.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns);
void futex_wake_all(std::atomic<std::uint32_t>& word);

// The whole ladder for one word that another thread of the caller's node changes: returns once
// *word != expected. keeps_ns: as of Backoff.
void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::uint64_t keeps_ns = Backoff::kBriefNs);

// Monotonic nanoseconds (CLOCK_MONOTONIC).
std::uint64_t now_ns();

}  // namespace terrane::platform
