#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "protocol/predict/tunables.h"
#include "protocol/serve/server.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// How the first write to a protected block is detected: by a scan at the next release, or by a
// fault at once.
enum class WriteDetection : std::uint8_t { kScan, kFault };

// A number that may change while operations run. Each reads it as it comes; any value is right.
class Bound {
 public:
  Bound(std::uint64_t value) : value_(value) {}
  Bound(const Bound& other) : value_(other) {}
  Bound& operator=(const Bound& other) {
    value_.store(other, std::memory_order_relaxed);
    return *this;
  }
  operator std::uint64_t() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_;
};

struct HlrcConfig {
  NodeId self;
  std::uint32_t nodes = 1;
  std::uint64_t blocks = 0;
  std::uint64_t sc_first = ~0ull;  // sc::Pages has the blocks from this one on
  std::size_t block_bytes = 4096;
  WriteDetection detection = WriteDetection::kScan;
  // Whether a block can enter the application view protected, in one step (Linux 6.4). If not, a
  // block counts as written as soon as it enters: other threads might write to it before it could
  // be protected.
  bool enters_protected = true;
  Bound limit = ~0ull;      // most memory to use, in blocks: pages and twins
  std::uint64_t floor = 2;  // this many copies stay, however short memory is
  Bound reserve = 0;        // blocks of the limit that homes taken from other nodes leave free
  // With more homes than this, the node asks others to adopt some.
  Bound most_homes = ~0ull;
  // Whether the program's loads and stores have one order, as on one machine: a block that another
  // node uses becomes a synchronisation page, and no node has copies by this protocol.
  bool sequential = false;
  bool migrate = false;  // homes by first touch follow their writers
  // Each change of a home is seen by the home, with the interval of its writer, so that RaceCheck
  // finds races: homes have twins and are tracked as long as they are in use, differences and
  // atomic operations go by messages, copies are not refreshed, and an acquire begins with a
  // release. For homes that do not move, and without `lazy`.
  bool check_races = false;
  // With check_races: the host knows what threads access, and each interval with an access is
  // closed, so that AccessCheck finds races of reads with writes.
  bool check_accesses = false;
  bool lazy = true;  // a token stays, without a release, until another node asks for it
  bool in_memory_barriers =
      true;  // rounds without notices are held in memory, if all nodes reach it
  std::uint32_t push_arity = kPushArity;  // this and the next two: as in ServerConfig
  std::size_t most_sent = kMostSentPushes;
  std::uint32_t sent_whole = kWholePushes;
  Tunables tunables;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
