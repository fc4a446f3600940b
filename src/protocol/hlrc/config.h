#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "protocol/predict/tunables.h"
#include "protocol/serve/server.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// How the first write to a protected block becomes known: by a scan at release, or by a fault at
// once.
enum class WriteDetection : std::uint8_t { kScan, kFault };

struct HlrcConfig {
  NodeId self;
  std::uint32_t nodes = 1;
  std::uint64_t blocks = 0;
  std::uint64_t sc_first = ~0ull;  // blocks from here on are sc::Pages'
  std::size_t block_bytes = 4096;
  WriteDetection detection = WriteDetection::kScan;
  // Whether a block can enter the application view protected, in one step (Linux 6.4). Where not,
  // a block that enters counts as written from then on: other threads might write before it could
  // be protected.
  bool enters_protected = true;
  std::uint64_t limit = ~0ull;  // memory to keep to, in blocks: frames and twins
  std::uint64_t floor = 2;      // copies that stay however short memory is
  std::uint64_t reserve = 0;    // of the limit: not for homes taken over from others
  bool migrate = false;         // homes by first touch follow their writers
  bool lazy = true;   // a token that no node asks for stays, without a release, until one does
  bool meets = true;  // barriers that bring nobody anything are held in memory, where all reach it
  std::uint32_t push_arity = kPushArity;  // of pushes, as the next two: ServerConfig
  std::size_t most_sent = kMostSentPushes;
  std::uint32_t sent_whole = kWholePushes;
  Tunables tunables;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
