#pragma once

#include <deque>
#include <vector>

#include "protocol/chunks/chunk_outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The home's part of a pushed chunk: versions come from the one writer, and go to all subscribers.
// Owns the versions that some subscriber must still be sent and the newest one, and what is known
// of each subscriber.
class PushedVersions {
 public:
  static constexpr std::uint32_t kMostKept = 3;
  // Versions that a home keeps of a chunk, with the newest.
  static std::uint32_t depth(Coherence coherence) {
    return coherence == Coherence::kStream ? kMostKept : kMostKept - 1;
  }

  // Makes a buffer for the first version.
  PushedVersions(ChunkId id, std::uint64_t bytes, std::uint64_t version, ChunkOutbox& outbox)
      : id_(id), bytes_(bytes), outbox_(outbox), kept_{{version, Place{kHomePlaces}, {}}} {
    outbox_.provide(id, bytes, Place{kHomePlaces});
  }

  std::uint64_t newest() const { return kept_.back().version; }
  Place newest_place() const { return kept_.back().place; }
  // How many more versions may be kept.
  std::uint32_t room(Coherence coherence) const {
    auto has = static_cast<std::uint32_t>(kept_.size());
    return depth(coherence) > has ? depth(coherence) - has : 0;
  }

  // Messages of a subscriber, and of the writer. False: malformed.
  bool subscribe(NodeId from, const ChunkMessage& message);
  bool credit(NodeId from, const ChunkMessage& message);
  bool publish(NodeId from, const ChunkMessage& message, Bytes tail);
  // False: the node has not subscribed.
  bool unsubscribe(NodeId node);
  // Forgets the versions that all subscribers with kBlock were sent.
  void forget_sent();
  // The chunk is not pushed any more.
  void discard_all() const;
  void check_invariants() const;

 private:
  struct Kept {
    std::uint64_t version;
    Place place;
    Range wrote;
  };
  struct Subscriber {
    NodeId node;
    std::uint32_t number = 0;  // of its subscription
    bool block = false;
    std::uint32_t credit = 0;   // versions that the subscriber has room for
    Range range;                // the part that it subscribed to
    std::uint64_t next = 0;     // with block: the first version that it was not sent
    std::uint32_t waiting = 0;  // without block: versions of its part that it was not sent
    Range changed;              // what those have changed
    bool late = false;          // it gets the newest version, whatever that changed
  };

  void push(Subscriber& subscriber);
  void push_all(Subscriber& subscriber);
  void push_newest(Subscriber& subscriber);
  void send(const Kept& kept, Subscriber& subscriber, std::uint32_t missed, Range changed);
  Place free_place() const;

  ChunkId id_;
  std::uint64_t bytes_;
  ChunkOutbox& outbox_;
  std::deque<Kept> kept_;  // the oldest first
  std::vector<Subscriber> subscribers_;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
