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
  bool placed = false;       // waits for a home as well
};

// What the home of a name knows while it has no chunk of that name itself. Owns the placements: in
// the slot of which node the chunk of a name has its home; and the finds that wait for the name to
// be created or placed.
class Placements {
 public:
  Placements(const View& view, ChunkOutbox& outbox) : view_(view), outbox_(outbox) {}

  // A find of a name whose home is here, to be answered here if the chunk is placed, or is being
  // placed by this find. has_chunk: a chunk of the name has its home in the name's slot. False:
  // the chunk is not placed, and will not be.
  bool find(NodeId from, const ChunkMessage& message, const std::string& name, bool has_chunk);
  // A node tells where a chunk is, as the home of the name before has died. False: malformed.
  bool named(const ChunkMessage& message, Bytes tail);
  // The finder waits for the name to be created or placed.
  void await(Finder finder) { finders_.push_back(std::move(finder)); }
  // Takes out the finders of a name that has been created here, in the order in which they came.
  std::vector<Finder> take_finders(const std::string& name);
  void forget_finders(NodeId dead);

 private:
  // As the first creator said.
  struct Placement {
    static constexpr std::uint32_t kNowhere = ~0u;
    std::uint32_t slot = kNowhere;
    std::uint64_t bytes = 0;  // this and the coherence while it is nowhere
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

// Where the home of the name has died since view `before`, its successor hears in which slot the
// chunk is, if that is not the name's own.
void tell_placement(ChunkId chunk, const std::string& name, const View& view, std::uint32_t before,
                    ChunkOutbox& outbox);

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
