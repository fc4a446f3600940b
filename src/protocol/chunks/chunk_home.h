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

inline constexpr std::uint32_t kSlotShift = 52;  // of a chunk's number, which contains its slot

std::uint32_t slot_of(std::string_view name, const View& view);
// kNoNode where there is no such slot.
NodeId home_of(ChunkId chunk, const View& view);

// A server's part: the directory of the chunks whose home it is. Owns their names, the list of
// copies of them, and the order of requests; one request of a chunk is served at a time, in the
// order in which they came.
class ChunkHome {
 public:
  // memory_bytes: of all chunks together that are created here.
  ChunkHome(std::uint64_t memory_bytes, const View& view, ChunkOutbox& outbox)
      : memory_bytes_(memory_bytes), view_(view), outbox_(outbox), placements_(view, outbox) {}

  // From a client, also this node's own; false: malformed. The message's slot is ours.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);
  // Effects of former steps have been performed.
  void forget_served() { served_.clear(); }
  // The view has changed; `before`: the epoch of the one before it. Forgets the dead, and begins to
  // rebuild the slots that are new here.
  void view_changed(std::uint32_t before);
  // Nothing is placed here any more, as this node leaves.
  void leave() { leaving_ = true; }
  // Chunks have their home here: this node cannot leave before the others.
  bool is_needed() const;

  // What a home knows of a chunk; for checks across nodes.
  struct Entry {
    std::string name;
    std::uint64_t bytes = 0;
    Coherence coherence = Coherence::kInvalidate;
    Coherence made = Coherence::kInvalidate;  // as its creator said
    // Of a work stream, of which nothing else is known here: as its creator said; its home; the
    // nodes that wait to hear of it.
    WorkShape work = {};
    NodeId work_home = kNoNode;
    std::vector<NodeId> place_awaited = {};
    bool works() const { return coherence == Coherence::kWork; }
    NodeId writer = kNoNode;      // of the newest version; unknown where it came by MESI
    NodeId owner = kNoNode;       // may write; nobody else has a copy
    std::vector<NodeId> sharers;  // sorted; may read, also the home's bytes are current
    std::uint64_t version = 0;    // of the home's bytes

    struct Request {
      NodeId node;
      std::uint32_t number = 0;
      std::uint8_t flags = 0;
      std::uint64_t version = 0;  // of the bytes that it has, with kHaveFlag
      bool cancelled = false;
      std::optional<Coherence> hint;  // it asks for this
      bool begun = false;             // and some have gone over already
    };
    std::deque<Request> queue;
    // A node that may have bytes, as it reported; newest first.
    struct Candidate {
      NodeId node;
      State state = State::kInvalid;
      std::uint64_t version = 0;
      bool bytes = false;
      Coherence coherence = Coherence::kInvalidate;  // in which it believes
    };
    std::vector<Candidate> candidates;
    bool valid = true;      // the home has bytes
    bool fetching = false;  // them, from a candidate
    bool restored = false;  // they are older than what died

    bool active = false;  // `serving` waits for the yields of `awaited`
    Request serving;
    std::vector<NodeId> awaited;
    bool refused = false;    // somebody's scope was in the way of a try
    std::uint32_t turn = 0;  // recalls are numbered by requests served

    // Of a pushed chunk: versions that somebody has yet to be sent, oldest first, and the newest.
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
      std::uint32_t credit = 0;   // versions that it has room for
      Range range;                // the part that it wants to hear of
      std::uint64_t next = 0;     // with block: the first that it has not been sent
      std::uint32_t waiting = 0;  // without: how many of its part it has not been sent
      Range changed;              // by those
      bool late = false;          // it is to have the newest version, whatever that changed
    };
    std::vector<Subscriber> subscribers;
    // Some had gone over to this when the home before died, and all are to.
    std::optional<Coherence> begun;
    std::vector<std::pair<NodeId, ChunkMessage>> early;  // subscriptions to what is not pushed yet

    // What a node that asks for the name now is told: nobody asks it to go over any more.
    Coherence coherence_to_be() const;
    // How many more versions the home may keep.
    std::uint32_t room() const {
      auto has = static_cast<std::uint32_t>(kept.size());
      return depth(coherence) > has ? depth(coherence) - has : 0;
    }
    // What the chunk may take of the home's memory with this coherence.
    std::uint64_t home_bytes(Coherence with) const {
      return with == Coherence::kInvalidate ? bytes : bytes * depth(with);
    }
  };
  const Entry* entry(ChunkId chunk) const;
  // Its slot came here, and not everybody has reported yet: of an entry not everything is known.
  bool rebuilding(ChunkId chunk) const;
  // Versions that a home keeps of a chunk, the newest among them.
  static std::uint32_t depth(Coherence coherence) {
    return coherence == Coherence::kStream ? kMostKept : kMostKept - 1;
  }
  static constexpr std::uint32_t kMostKept = 3;
  // Room in this server's memory; false: there is none.
  bool reserve(std::uint64_t bytes) {
    if (bytes > memory_bytes_ - used_bytes_) return false;
    used_bytes_ += bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) { used_bytes_ -= std::min(used_bytes_, bytes); }
  void check_invariants() const;

 private:
  // A slot that came here with its home's death.
  struct Rebuild {
    std::vector<NodeId> awaited;    // that have not reported yet
    std::vector<NodeId> reporters;  // whom to tell once the home can do without them
    struct Deferred {
      NodeId from;
      ChunkMessage message;
      std::vector<std::byte> tail;
    };
    std::deque<Deferred> deferred;  // what is asked meanwhile
    struct Gone {
      std::string name;
      bool told = false;
    };
    std::map<std::uint64_t, Gone> gone;  // pushed chunks that died with earlier homes
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
  using Name = std::pair<std::uint64_t, std::string>;  // in its slot
  std::map<Name, std::uint64_t> names_;
  Placements placements_;
  std::map<std::uint32_t, Rebuild> rebuilds_;  // by slot
  std::deque<Rebuild::Deferred> served_;       // whose bytes this step's effects may name
  std::vector<NodeId> members_;                // of the view before
  std::uint32_t next_number_ = 0;
  bool leaving_ = false;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
