#pragma once

#include <cstdint>

#include "protocol/chunks/chunk_instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// A barrier or a signal is a count in a pushed chunk. A thread that arrives or signals adds one in
// a scope that reads and writes; a waiting thread takes versions until the count is high enough. A
// lock is only such a scope of a chunk of its own.

// The contents of the chunk.
struct MeetingWords {
  std::uint64_t count = 0;
  std::uint64_t parties = 0;  // threads of a barrier
};

struct Arrival {
  bool agrees;           // the barrier has this number of threads; if not, nothing has changed
  std::uint64_t target;  // the count at which all threads have arrived
};
// A thread arrives at a barrier of `parties` threads (at least 1).
Arrival arrive(MeetingWords& words, std::uint64_t parties);
// Adds one signal; returns how many there are.
std::uint64_t give_signal(MeetingWords& words);

// What a node knows of a count. One of its waiting threads takes versions, and notifies the others.
// The caller excludes other threads.
class MeetingCount {
 public:
  // kTake: the thread has to take a version, and then to call took(). kWait: it waits until it is
  // notified.
  enum class Next : std::uint8_t { kDone, kTake, kWait };
  Next next(std::uint64_t target);
  // The thread that had to take a version returns; `words`: nullptr if none came. True: the caller
  // has to notify all waiting threads, which call next() again.
  bool took(const MeetingWords* words);
  // A thread of this node has written this count. True: as in took().
  bool learn(std::uint64_t count);

  std::uint64_t seen() const { return seen_; }

 private:
  std::uint64_t seen_ = 0;
  bool taking_ = false;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
