#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/chunks/chunk_outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// A find that the home of the name has not answered yet.
struct Finder {
  std::string name;
  NodeId node;
  std::uint32_t number = 0;  // of the node's request
  bool placed = false;       // waits until the chunk has a home, too
};

// What the home of a name knows while it is not home of the chunk itself. Owns the placements: for
// each name the node slot in which its chunk has its home. Owns the finds that wait until the name
// is created or placed.
class Placements {
 public:
  Placements(const View& view, ChunkOutbox& outbox) : view_(view), outbox_(outbox) {}

  // A find of a name whose home is here. True: it was answered, or waits, because the chunk is
  // placed, or this find places it. False: the chunk has no placement, and this find makes none.
  // has_chunk: the chunk has its home in the slot of its name.
  bool find(NodeId from, const ChunkMessage& message, const std::string& name, bool has_chunk);
  // A node reports where a chunk is, because the former home of the name has died. False:
  // malformed.
  bool named(const ChunkMessage& message, Bytes tail);
  // The finder waits until the name is created or placed.
  void await(Finder finder) { finders_.push_back(std::move(finder)); }
  // Removes and returns the finders of a name that has been created here, in the order in which
  // they came.
  std::vector<Finder> take_finders(const std::string& name);
  void forget_finders(NodeId dead);

 private:
  // Where a chunk is placed, as its first creator chose.
  struct Placement {
    static constexpr std::uint32_t kNowhere = ~0u;
    std::uint32_t slot = kNowhere;
    std::uint64_t bytes = 0;  // size and coherence, while it has no slot
    Coherence coherence = Coherence::kInvalidate;
  };

  void answer(NodeId to, std::uint32_t request, const Placement& placement);
  void refuse(NodeId to, std::uint32_t request, std::uint8_t flags);
  void answer_finders(const std::string& name, const Placement& placement);

  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::string, Placement> placements_;
  std::vector<Finder> finders_;
};

// If the home of the name has died since view `before`, and the chunk is not in the slot of its
// name, reports its slot to the new home of the name.
void tell_placement(ChunkId chunk, const std::string& name, const View& view, std::uint32_t before,
                    ChunkOutbox& outbox);

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
