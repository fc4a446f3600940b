#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/waiting/decision.h"

namespace terrane::runtime::waiting {

// How many threads of the job can want a processor at once, against how many processors they share.
// Set at start; read by every wait. Until then they fit.
void share_processors(std::uint32_t threads, std::uint32_t processors);
bool threads_fit_processors();

// One wait of one thread: it calls pause() between looks for what it waits for. decide() says what
// happens then.
class Backoff {
 public:
  Backoff() = default;
  // Polls for at most longest_ns where the threads fit the processors: for a thread of the caller's
  // own node, which may need this processor to do what is waited for. 0: not at all.
  explicit Backoff(std::uint64_t longest_ns) : longest_ns_(longest_ns) {}

  // False: the caller had better sleep; so in later calls, until renew().
  bool pause(HandlerNeed handler = HandlerNeed::kNothing);
  // Something else has come, and more may come soon: the time to poll begins again.
  void renew();
  // What is waited for has not been late so far.
  bool is_short() const;

 private:
  std::uint64_t longest_ns_ = ~0ull;
  std::uint64_t began_ns_ = 0;
  std::uint64_t looked_ns_ = 0;
  std::uint32_t looks_ = 0;
  bool fits_ = false;
};

// Waits until *word != expected, by polling and then by sleeping (futex). Another thread of the
// caller's node changes the word and wakes. longest_ns: as of Backoff.
void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::uint64_t longest_ns = kCrowdedNs);

}  // namespace terrane::runtime::waiting
