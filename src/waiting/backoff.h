#pragma once

#include <atomic>
#include <cstdint>

#include "waiting/decision.h"

namespace terrane::waiting {

// Sets how many threads of the job may want a processor at once, and how many processors they
// share. Called at start; every wait reads it. Before that call they count as fitting.
void share_processors(std::uint32_t threads, std::uint32_t processors);
bool threads_fit_processors();

// One wait of one thread. The thread calls pause() between two looks for what it waits for; pause()
// does what decide() answers.
class Backoff {
 public:
  Backoff() = default;
  // Polls for at most longest_ns if the threads fit the processors; 0: does not poll. For a wait
  // for a thread of the caller's own node, which may need this processor for its work.
  // crowded_ns: the same beside a competitor that keeps the processor.
  explicit Backoff(std::uint64_t longest_ns, std::uint64_t crowded_ns = kCrowdedNs)
      : longest_ns_(longest_ns), crowded_ns_(crowded_ns) {}

  // False: the caller should sleep. Later calls say so too, until `restart()`.
  bool pause(HandlerNeed handler = HandlerNeed::kNothing);
  // Restarts the time to poll: something else has come, and more may come soon.
  void restart();
  // Whether the wait has taken few looks so far (kSpins) and need not read the clock yet.
  bool is_short() const;

 private:
  std::uint64_t longest_ns_ = ~0ull;
  std::uint64_t crowded_ns_ = kCrowdedNs;
  std::uint64_t began_ns_ = 0;
  std::uint64_t looked_ns_ = 0;
  std::uint32_t looks_ = 0;
  bool fits_ = false;
};

// Waits until `word` differs from `expected`: polls, then sleeps (futex). Another thread of the
// node changes the word and wakes the sleeper. longest_ns: as in Backoff.
void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::uint64_t longest_ns = kCrowdedNs);

}  // namespace terrane::waiting
