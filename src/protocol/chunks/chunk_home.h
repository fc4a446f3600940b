#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/chunks/chunk_outbox.h"
#include "protocol/chunks/placements.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

inline constexpr std::uint32_t kSlotShift = 52;  // position of the slot in a chunk's number

std::uint32_t slot_of(std::string_view name, const View& view);
// kNoNode if there is no such slot.
NodeId home_of(ChunkId chunk, const View& view);

// The server of a node: the directory of the chunks whose home it is. Owns their names, the list of
// copies of each, and the queue of its requests. The requests of a chunk are served one at a time,
// in the order in which they came.
class ChunkHome {
 public:
  // memory_bytes: for all chunks together that are created here.
  ChunkHome(std::uint64_t memory_bytes, const View& view, ChunkOutbox& outbox)
      : memory_bytes_(memory_bytes), view_(view), outbox_(outbox), placements_(view, outbox) {}

  // A message of a client, also of this node's own, for a slot whose home is here. False:
  // malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);
  // The effects of former steps have been performed.
  void forget_served() { served_.clear(); }
  // The view has changed; `before`: the epoch of the former view. Forgets dead nodes, and begins to
  // rebuild the slots that are new here.
  void view_changed(std::uint32_t before);
  // This node leaves: it refuses chunks that are to be placed here.
  void leave() { leaving_ = true; }
  // Whether chunks have their home here: then this node cannot leave before the others.
  bool is_needed() const;

  // What the home knows of a chunk; public for checks across nodes.
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;
    Coherence coherence = Coherence::kInvalidate;
    Coherence made = Coherence::kInvalidate;  // as its creator chose
    // Of a work stream, of which nothing else is known here: what its creator chose; its home; the
    // nodes that wait until it has a home.
    WorkShape work = {};
    NodeId work_home = kNoNode;
    std::vector<NodeId> place_awaited = {};
    bool works() const { return coherence == Coherence::kWork; }
    NodeId writer = kNoNode;      // of the newest version; unknown if that was made under
                                  // kInvalidate
    NodeId owner = kNoNode;       // may write; under kInvalidate no other node has a copy
    std::vector<NodeId> sharers;  // sorted; may read, and the home's bytes are current, too
    std::uint64_t version = 0;    // of the home's bytes

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
    // A node that has reported the chunk, and may have its bytes; the newest first.
    struct Candidate {
      NodeId node;
      State state = State::kInvalid;
      std::uint64_t version = 0;
      bool bytes = false;
      Coherence coherence = Coherence::kInvalidate;  // as the node knows it
    };
    std::vector<Candidate> candidates;
    bool valid = true;      // the home has bytes
    bool fetching = false;  // it asks a candidate for bytes
    bool restored = false;  // the bytes are older than those that died

    bool active = false;  // request `serving` waits for the yields of `awaited`
    Request serving;
    std::vector<NodeId> awaited;
    bool refused = false;    // an open scope was in the way of a try
    std::uint32_t turn = 0;  // number of the recalls: counts requests that were served

    // Of a pushed chunk: the versions that some subscriber must still be sent, oldest first, and
    // the newest one.
    struct Kept {
      std::uint64_t version;
      Place place;
      Range wrote;
    };
    std::deque<Kept> kept;
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
    std::vector<Subscriber> subscribers;
    // Some nodes had changed to this coherence when the former home died: all have to.
    std::optional<Coherence> begun;
    std::vector<std::pair<NodeId, ChunkMessage>> early;  // subscriptions that wait until the chunk
                                                         // is pushed

    // The coherence for a node that asks for the name now: no recall will ask this node to change
    // it.
    Coherence coherence_to_be() const;
    // How many more versions the home may keep.
    std::uint32_t room() const {
      auto has = static_cast<std::uint32_t>(kept.size());
      return depth(coherence) > has ? depth(coherence) - has : 0;
    }
    // Bytes of the home's memory that the chunk may take with this coherence.
    std::uint64_t home_bytes(Coherence with) const {
      return with == Coherence::kInvalidate ? bytes : bytes * depth(with);
    }
  };
  const Entry* entry(ChunkId chunk) const;
  // Whether the chunk's slot came here, and not all nodes have reported yet: entries are
  // incomplete.
  bool rebuilding(ChunkId chunk) const;
  // Versions that a home keeps of a chunk, with the newest.
  static std::uint32_t depth(Coherence coherence) {
    return coherence == Coherence::kStream ? kMostKept : kMostKept - 1;
  }
  static constexpr std::uint32_t kMostKept = 3;
  // Reserves room in this server's memory. False: there is not enough.
  bool reserve(std::uint64_t bytes) {
    if (bytes > memory_bytes_ - used_bytes_) return false;
    used_bytes_ += bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) { used_bytes_ -= std::min(used_bytes_, bytes); }
  void check_invariants() const;

 private:
  // A slot that came here because its home died.
  struct Rebuild {
    std::vector<NodeId> awaited;    // nodes that have not reported yet
    std::vector<NodeId> reporters;  // nodes to notify when their copies are not needed any more
    struct Deferred {
      NodeId from;
      ChunkMessage message;
      std::vector<std::byte> tail;
    };
    std::deque<Deferred> deferred;  // what nodes have asked meanwhile
    struct Gone {
      std::string name;
      bool told = false;
    };
    std::map<std::uint64_t, Gone> gone;  // pushed chunks that died with former homes
  };

  bool report(NodeId from, const ChunkMessage& message, Bytes tail);
  bool report_end(NodeId from, const ChunkMessage& message);
  void complete(std::uint32_t slot, Rebuild& rebuild);
  void settle(ChunkId id, Entry& entry);
  void fetch(ChunkId id, Entry& entry);
  void fetched(ChunkId id, Entry& entry, NodeId from, const ChunkMessage& message);
  void restore_nothing(ChunkId id, Entry& entry);
  void tell_serving(std::uint32_t slot);
  void bury(NodeId dead);
  void bury(ChunkId id, Entry& entry, NodeId dead);
  void owner_died(ChunkId id, Entry& entry);
  bool find(NodeId from, const ChunkMessage& message, Bytes tail);
  void create(NodeId from, const ChunkMessage& message, std::string name);
  bool create_work(NodeId from, const ChunkMessage& message, std::string name);
  ChunkId new_id(std::uint64_t slot);
  void made(ChunkId id, const std::string& name, const Entry& entry);
  bool place(NodeId from, const ChunkMessage& message);
  void bury_work();
  bool report_work(const ChunkMessage& message, std::string name);
  void answer_find(NodeId to, std::uint32_t request, ChunkId id, const Entry* entry,
                   std::uint8_t flags);
  bool request(NodeId from, const ChunkMessage& message);
  bool cancel(NodeId from, const ChunkMessage& message);
  bool yielded(NodeId from, const ChunkMessage& message, Bytes tail);
  bool evicted(NodeId from, const ChunkMessage& message, Bytes tail);
  bool take_bytes(NodeId from, ChunkId id, Entry& entry, const ChunkMessage& message, Bytes tail);
  bool subscribe(NodeId from, const ChunkMessage& message);
  bool unsubscribe(NodeId from, const ChunkMessage& message);
  bool publish(NodeId from, const ChunkMessage& message, Bytes tail);
  bool credit(NodeId from, const ChunkMessage& message);
  void push(ChunkId id, Entry& entry, Entry::Subscriber& subscriber);
  void push_all(ChunkId id, const Entry& entry, Entry::Subscriber& subscriber);
  void push_newest(ChunkId id, const Entry& entry, Entry::Subscriber& subscriber);
  void send_version(ChunkId id, const Entry& entry, const Entry::Kept& kept,
                    Entry::Subscriber& subscriber, std::uint32_t missed, Range changed);
  void forget_pushed(ChunkId id, Entry& entry);
  bool hint(NodeId from, const ChunkMessage& message);
  void answer_hint(ChunkId id, const Entry::Request& request, std::uint8_t flags);
  void begin_hint(ChunkId id, Entry& entry);
  void change(ChunkId id, Entry& entry, const Entry::Request& request);
  Place free_place(ChunkId id, const Entry& entry) const;
  void serve(ChunkId id, Entry& entry);
  void begin(ChunkId id, Entry& entry);
  void recall(ChunkId id, Entry& entry, NodeId from, wire::RecallMode mode);
  void finish(ChunkId id, Entry& entry);
  void grant(ChunkId id, Entry& entry, const Entry::Request& request);
  void grant_pushed(ChunkId id, Entry& entry, const Entry::Request& request);
  void refuse(ChunkId id, const Entry::Request& request, std::uint8_t flags);

  std::uint64_t memory_bytes_;
  std::uint64_t used_bytes_ = 0;
  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::uint64_t, Entry> entries_;
  using Name = std::pair<std::uint64_t, std::string>;  // slot and name
  std::map<Name, std::uint64_t> names_;
  Placements placements_;
  std::map<std::uint32_t, Rebuild> rebuilds_;  // by slot
  std::deque<Rebuild::Deferred> served_;       // messages whose bytes this step's effects may name
  std::vector<NodeId> members_;                // of the former view
  std::uint32_t next_number_ = 0;
  bool leaving_ = false;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
