#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/chunks/pushed_versions.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// What a home knows of a chunk.
struct HomeEntry {
  std::string name;
  std::uint64_t bytes = 0;
  Coherence coherence = Coherence::kInvalidate;
  Coherence made = Coherence::kInvalidate;  // as its creator chose
  NodeId writer = kNoNode;      // of the newest version; unknown if that was made under kInvalidate
  NodeId owner = kNoNode;       // may write; under kInvalidate no other node has a copy
  std::vector<NodeId> sharers;  // sorted; may read, and the home's bytes are current, too
  std::uint64_t version = 0;    // of the home's bytes
  bool valid = true;            // the home has bytes

  // Of a work stream, of which nothing else is known here: what its creator chose; its home; the
  // nodes that wait until it has a home.
  struct Work {
    WorkShape shape = {};
    NodeId home = kNoNode;
    std::vector<NodeId> awaited = {};
  };
  Work work;
  bool works() const { return coherence == Coherence::kWork; }

  struct Request {
    NodeId node;
    std::uint32_t number = 0;
    std::uint8_t flags = 0;
    std::uint64_t version = 0;  // of the bytes that the node has, with kHaveFlag
    bool cancelled = false;
    std::optional<Coherence> hint;  // the request asks for this coherence
    bool begun = false;             // and some nodes have changed to it already
  };
  std::deque<Request> queue;

  // The turn of one request, or of the home that asks a candidate for bytes.
  struct Turn {
    bool active = false;  // waits for the yields of `awaited`
    Request serving;
    std::vector<NodeId> awaited;
    bool refused = false;      // an open scope was in the way of a try
    std::uint32_t number = 0;  // of the recalls: counts requests that were served
  };
  Turn turn;

  // What the nodes have reported to this home, which succeeds another one.
  struct Recovery {
    // A node that may have the chunk's bytes; the newest first.
    struct Candidate {
      NodeId node;
      State state = State::kInvalid;
      std::uint64_t version = 0;
      bool bytes = false;
      Coherence coherence = Coherence::kInvalidate;  // as the node knows it
    };
    std::vector<Candidate> candidates;
    bool fetching = false;  // the home asks a candidate for bytes
    bool restored = false;  // the bytes are older than those that died
    // Some nodes had changed to this coherence when the former home died: all have to.
    std::optional<Coherence> begun;
  };
  Recovery recovery;

  std::optional<PushedVersions> pushed;                // if the chunk is
  std::vector<std::pair<NodeId, ChunkMessage>> early;  // subscriptions that wait until it is

  // The coherence for a node that asks for the name now: no recall will ask this node to change it.
  Coherence coherence_to_be() const {
    if (turn.active && !recovery.fetching && turn.serving.hint) return *turn.serving.hint;
    if (!queue.empty() && queue.front().begun) return *queue.front().hint;
    return coherence;
  }
  // How many more versions the home may keep.
  std::uint32_t room() const { return pushed ? pushed->room(coherence) : 0; }
  // Bytes of the home's memory that the chunk may take with this coherence.
  std::uint64_t home_bytes(Coherence with) const {
    return with == Coherence::kInvalidate ? bytes : bytes * PushedVersions::depth(with);
  }
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
