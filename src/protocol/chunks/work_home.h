#pragma once

#include <map>
#include <string>
#include <vector>

#include "protocol/chunks/home_memory.h"
#include "protocol/chunks/slots.h"
#include "protocol/chunks/work_instrument.h"
#include "protocol/chunks/work_message.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The home of work streams: queues the versions that writers put, gives each one to one subscriber,
// and keeps it until it is done. Learns of a stream by the first message about it.
class WorkHome {
 public:
  // memory: of this node as a server.
  WorkHome(HomeMemory& memory, const View& view, ChunkOutbox& outbox)
      : memory_(memory), view_(view), outbox_(outbox) {}

  // A message of a client, also of this node's own. False: malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);
  // Forgets nodes that are not in the view any more.
  void view_changed();
  // Whether a stream is here that was not ended, or has versions that are not done.
  bool is_needed() const;

  // Public for checks across nodes.
  struct Stream {
    std::string name;
    std::uint64_t bytes = 0;  // of a full version
    std::uint64_t capacity = 0;
    bool in_order = false;

    struct Item {
      std::uint64_t version = 0;
      std::uint64_t tag = 0;
      std::uint64_t bytes = 0;
      Place place;
      NodeId writer;
      std::uint32_t put = 0;  // the writer's number of this version
      bool depends = false;   // the writer has versions that are done only after this one
      bool again = false;     // a subscriber that died or left had it before
      NodeId given_to = kNoNode;
      std::uint32_t subscription = 0;
      bool released = false;          // it uses no credit any more
      std::vector<Item> others = {};  // versions with the same tag that came later, and are done
                                      // with this one
    };
    std::map<std::uint64_t, Item> queued;  // by version; in a stream in order by tag
    std::map<std::uint64_t, Item> given;   // by version
    std::uint64_t last = 0;                // the last version
    NodeId writer = kNoNode;               // of the last version
    std::uint64_t next_tag = 0;            // in a stream in order: the next tag that was never
                                           // given

    struct Writer {
      NodeId node;
      bool stopped = false;         // has put its last version
      bool dead = false;            // has died, and some of its versions are not done
      std::uint64_t unsettled = 0;  // bytes of its versions that are not done
      std::vector<std::uint32_t> done;
      std::uint64_t done_bytes = 0;  // of the versions in `done`, which are not reported yet
    };
    std::vector<Writer> writers;
    struct Subscriber {
      NodeId node;
      std::uint32_t number = 0;
      std::uint64_t credit = 0;
      std::uint64_t used = 0;
    };
    std::vector<Subscriber> subscribers;
    bool ended = false;
    bool drained = false;
    NodeId died = kNoNode;  // the last subscriber, if it died and no other has come
  };
  const Stream* stream(ChunkId chunk) const;
  void check_invariants() const;

 private:
  using Item = Stream::Item;
  static Item* find_tag(Stream& stream, std::uint64_t tag);

  Stream& learn(const ChunkMessage& message, Bytes name);
  bool write(NodeId from, const ChunkMessage& message, Bytes name);
  bool put(NodeId from, const ChunkMessage& message, Bytes tail);
  bool subscribe(NodeId from, const ChunkMessage& message, Bytes name);
  bool unsubscribe(NodeId from, const ChunkMessage& message, Bytes tail);
  bool released(NodeId from, const ChunkMessage& message, Bytes tail);
  void return_credit(Stream& stream, Item& item);
  bool done(NodeId from, const ChunkMessage& message, Bytes tail);
  bool end(NodeId from, const ChunkMessage& message, Bytes name);
  bool stopped(NodeId from, const ChunkMessage& message);

  void give_all(ChunkId id, Stream& stream);
  Stream::Subscriber* next_subscriber(Stream& stream, std::uint64_t cost);
  void settle(ChunkId id, Stream& stream, const Item& item);
  void tell_settled(ChunkId id, Stream::Writer& writer);
  void take_back(ChunkId id, Stream& stream, NodeId from, const std::vector<std::uint64_t>& keeps);
  void tell_takers(ChunkId id, const Stream& stream);
  void bury(ChunkId id, Stream& stream);
  void advance(ChunkId id, Stream& stream);
  void forget_gone_writers(Stream& stream);
  bool has_stopped(const Stream& stream) const;
  Place free_place(ChunkId id, const Stream& stream) const;
  static Stream::Writer* find_writer(Stream& stream, NodeId node);

  HomeMemory& memory_;
  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::uint64_t, Stream> streams_;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
