#pragma once

#include <cstdint>

#include "protocol/chunks/chunk_instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// A barrier or a signal is a count in a pushed chunk: a thread that comes adds one under a scope
// that reads and writes, and a waiting thread takes versions until the count is high enough. A lock
// is such a scope of a chunk of its own, and nothing more.

// What the chunk holds.
struct MeetingWords {
  std::uint64_t count = 0;
  std::uint64_t parties = 0;  // of a barrier
};

struct Arrival {
  bool agrees;           // the barrier is one of so many; else nothing has changed
  std::uint64_t target;  // the count at which all have come
};
// A thread comes to a barrier of `parties` (at least 1).
Arrival arrive(MeetingWords& words, std::uint64_t parties);
// One signal more; answers how many there are.
std::uint64_t give_signal(MeetingWords& words);

// What a node knows of a count. Of its threads that wait one takes versions, and tells the others.
// The caller excludes other threads.
class MeetingCount {
 public:
  // kTake: the thread is to take a version, and then to call took. kWait: until it is told.
  enum class Next : std::uint8_t { kDone, kTake, kWait };
  Next next(std::uint64_t target);
  // The thread that was to take has done so; `words` is nullptr where none came. True: all that
  // wait are to be told, and ask for what is next.
  bool took(const MeetingWords* words);
  // A thread of this node has left this count behind. True: as above.
  bool learn(std::uint64_t count);

  std::uint64_t seen() const { return seen_; }

 private:
  std::uint64_t seen_ = 0;
  bool taking_ = false;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
