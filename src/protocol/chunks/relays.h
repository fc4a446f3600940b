#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "protocol/chunks/chunk_effects.h"
#include "protocol/chunks/home_memory.h"
#include "protocol/chunks/slots.h"
#include "protocol/steps/clusters.h"
#include "wire/chunk_message.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Sends a version of a pushed chunk over the link to another cluster once, even if several nodes
// there have subscribed. The home sends it to the relay of that cluster, which passes it on, and
// keeps the last few versions for subscribers that have room for them later. The relay is the first
// server of the cluster, because servers stay until the job ends. What it keeps counts in its
// memory as a server. If that is full, the relay asks homes to forget its versions of the chunks
// that were pushed least recently. Used only if no node dies or joins.
// Owns the state that keeps messages between two nodes in order, of which some come by the relay
// and others directly: each relayed message says how many direct ones precede it, and a direct
// message that follows relayed ones has a kRelayMark before it.
class Relays {
 public:
  // Passes a message of node `from` to the machine. Message and data are valid until forget().
  using Handle = std::function<void(NodeId from, Bytes message, Bytes data)>;

  // clusters: nullptr: nothing is relayed. memory: of this node as a server; a relay uses at most
  // `most_bytes` of it. The clusters, the memory and the view outlive this object.
  Relays(NodeId self, const Clusters* clusters, const View& view, HomeMemory& memory,
         std::uint64_t most_bytes)
      : self_(self),
        clusters_(clusters != nullptr && clusters->count() > 1 ? clusters : nullptr),
        view_(view),
        memory_(memory),
        most_bytes_(most_bytes) {}

  // Whether messages between this node and `other` go through send() and received().
  bool concerns(NodeId other) const {
    return clusters_ != nullptr && other.value < clusters_->nodes() && other != self_;
  }
  // At the end of a step: joins the messages with one version for several nodes of a cluster.
  void send(Effects& effects);
  // A message has come from another node. False: malformed.
  bool received(NodeId from, Bytes message, Bytes data, Effects& effects, const Handle& handle);
  // The effects of former steps have been performed.
  void forget() { spent_.clear(); }
  // Bytes that this relay keeps, and that count in its memory.
  std::uint64_t kept_bytes() const { return kept_bytes_; }

 private:
  // Counts of the messages to one node of another cluster.
  struct Sent {
    std::uint64_t direct = 0;
    std::uint64_t relayed = 0;
    std::uint64_t marked = 0;  // relayed messages, as the last kRelayMark said
  };
  struct Waiting {
    std::uint64_t after = 0;  // comes after this many messages of the other kind
    std::vector<std::byte> message;
    std::vector<std::byte> data;
  };
  struct Came {
    std::uint64_t direct = 0;
    std::uint64_t relayed = 0;
    std::uint64_t marked = 0;
    std::deque<Waiting> early;                // direct messages that came before relayed ones sent
                                              // earlier
    std::map<std::uint64_t, Waiting> behind;  // relayed messages, by number
  };
  struct Key {
    std::uint64_t chunk;
    std::uint64_t version;
    std::uint32_t cluster;
    auto operator<=>(const Key&) const = default;
  };
  // One message to a relay: a version for some nodes of its cluster.
  struct Group {
    Key key;
    std::size_t at = 0;  // index of its first message among the effects
    Send first;          // that message, as it would be sent directly
    std::uint32_t count = 0;
    std::vector<std::byte> entries;
  };
  struct Kept {
    std::uint64_t version = 0;
    std::vector<std::byte> bytes;
    bool counted = false;  // in the server's memory
  };
  // The versions of one chunk that this relay keeps.
  struct Keeping {
    std::deque<Kept> versions;
    NodeId home = kNoNode;
    std::uint64_t used = 0;  // the last use, as a count of versions kept
    bool ends = false;       // the home was asked to forget it
  };
  // Versions of a chunk that a relay keeps: as many as a home.
  static constexpr std::size_t kMostKept = 3;
  static constexpr std::size_t kMostWaiting = 1 << 16;

  bool is_far(NodeId node) const { return concerns(node) && !clusters_->together(self_, node); }
  NodeId relay_of(std::uint32_t cluster) const;
  bool goes_by_relay(const Send& send, const wire::ChunkMessage& head) const;
  void note_direct(NodeId to, Effects& effects, std::vector<Effect>& list);
  Send to_relay(const Group& group, Effects& effects);
  bool relay(NodeId from, Bytes message, Effects& effects, const Handle& handle);
  void keep(NodeId from, const wire::ChunkMessage& head, Bytes data, Effects& effects);
  void drop_oldest(Keeping& keeping);
  void make_room(std::uint64_t bytes, Effects& effects);
  bool full(NodeId from, const wire::ChunkMessage& head, Effects& effects);
  bool end(NodeId from, const wire::ChunkMessage& head);
  bool relayed(NodeId from, Bytes message, const Handle& handle);
  void direct(NodeId from, Bytes message, Bytes data, const Handle& handle);
  void go_on(NodeId from, const Handle& handle);
  void handle_kept(NodeId from, Waiting& waiting, const Handle& handle);

  NodeId self_;
  const Clusters* clusters_;
  const View& view_;
  std::map<std::uint32_t, Sent> sent_;
  std::map<std::uint32_t, Came> came_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::deque<std::uint64_t>>
      at_relays_;  // versions that relays have, by chunk and cluster
  HomeMemory& memory_;
  std::uint64_t most_bytes_, kept_bytes_ = 0, uses_ = 0;
  std::map<std::uint64_t, Keeping> kept_;  // by chunk, if this node is a relay
  std::deque<Waiting> spent_;              // messages whose bytes this step's effects may name
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
