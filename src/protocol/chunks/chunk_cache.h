#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/chunks/chunk_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// A node's part as a client: its copies, the scopes that its threads hold, and what it has asked
// its servers for. Scopes of a chunk open in the order in which they were asked for.
class ChunkCache {
 public:
  // budget_bytes: of all copies together that have their home elsewhere.
  ChunkCache(std::uint64_t budget_bytes, const View& view, ChunkOutbox& outbox)
      : budget_bytes_(budget_bytes), view_(view), outbox_(outbox) {}

  void create(const Create& event);
  void find(const Find& event);
  void open(const Open& event);
  void close(const Close& event);
  void subscribe(const Subscribe& event);
  void unsubscribe(ChunkId chunk);
  void take(const Take& event);
  void hint(const Hint& event);
  void drop(ChunkId chunk);
  void leave(const Leave& event);
  // At the end of every step: what a node that leaves can do by now.
  void go_on_leaving();
  void elapsed(std::uint64_t now_ns);
  // The view has changed; `before`: the epoch of the one before it. Tells new homes what this node
  // has, and asks them what it had asked the old ones.
  void view_changed(std::uint32_t before);
  // From a server, also this node's own; false: malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);

  // The next deadline of somebody who waits; kNever: of nobody.
  std::uint64_t next_deadline_ns() const;

  struct Copy {
    std::string name;
    std::uint32_t ordinal = 0;  // how many copies were known before it
    bool gone = false;          // a pushed chunk whose home has died
    std::uint64_t bytes = 0;
    Coherence coherence = Coherence::kInvalidate;
    Coherence made = Coherence::kInvalidate;  // as its creator said
    // It has gone over from kInvalidate to this, as far as this node is concerned; whether all have
    // is not known here. Where the home dies before that is known, the node steps back. Until then
    // it keeps what bytes it had (has_bytes, at place 0).
    std::optional<Coherence> half;
    State state = State::kInvalid;
    bool has_bytes = false;     // those of `version`, also where they may not be read any more;
                                // of a pushed chunk none but while it is `half`
    std::uint64_t counted = 0;  // of the budget
    bool blank = false;         // exclusive without bytes: for who writes all of them
    bool evicting = false;  // written bytes are on their way to the home, and kept till they are
                            // there
    std::uint64_t version = 0;  // of the bytes
    std::uint64_t used = 0;     // when last, for eviction
    std::uint32_t readers = 0;
    bool writer = false;

    struct Waiter {
      WaiterId waiter;
      Mode mode;
      Wait wait;
      std::uint64_t deadline_ns;
    };
    std::deque<Waiter> waiters;
    struct Pending {
      std::uint32_t number;
      bool tries;
      bool data;  // its grant brings bytes
      bool cancelled;
      WaiterId waiter;  // for whose sake
    };
    // Requests under way, shared and exclusive: of a pushed chunk both, else one at a time.
    std::array<std::optional<Pending>, 2> pending;
    bool asks() const { return pending[0] || pending[1]; }
    Pending* find_request(std::uint32_t number);
    struct Due {
      wire::RecallMode mode;
      std::uint32_t turn;
      Coherence to = Coherence::kInvalidate;  // with kEnd
    };
    std::optional<Due> due;  // a recall that waits for a scope to end

    // Of a pushed chunk; `version` is the last that this node may write after.
    struct Held {
      std::uint64_t version = 0;
      Place place;
      std::uint32_t readers = 0;
      bool written = false;   // here
      bool snapshot = false;  // came because it was asked for
      bool fresh = false;     // came by subscription, and is still to be taken
      Range changed;          // of one that came so, and how many were left out before it
      std::uint32_t missed = 0;
      bool received() const { return !written && !snapshot; }
    };
    std::vector<Held> held;    // by version
    Place writing;             // the open writing scope's
    std::uint32_t credit = 0;  // versions that the home has room for
    std::uint64_t seen = 0;    // the newest that a scope here has opened
    bool subscribed = false;
    Range range;  // to which part
    bool block = false;
    std::uint32_t number = 0;  // of the subscription
    std::uint32_t window = 0;
    std::uint32_t at_home = 0;  // versions that may come without being told to
    std::uint64_t taken = 0;    // the last that was taken
    struct Taker {
      WaiterId waiter;
      std::uint64_t deadline_ns;
    };
    std::deque<Taker> takers;

    bool pushed() const { return coherence != Coherence::kInvalidate; }
    bool ending() const { return due && due->mode == wire::RecallMode::kEnd; }
    bool hears_all() const { return range == Range{0, bytes}; }
    // Of kOwnPlaces: buffers that are no subscription's, and those that grants will bring.
    std::size_t own_places() const;
  };
  const Copy* copy(ChunkId chunk) const;
  // The home that the slot has come to may still ask for the copies that were reported to it.
  bool awaits_home(ChunkId chunk) const {
    return std::find(rebuilding_.begin(), rebuilding_.end(), chunk.value >> 52) !=
           rebuilding_.end();
  }
  std::uint64_t used_bytes() const { return used_bytes_; }
  void check_invariants() const;

 private:
  struct Ask {
    std::uint32_t number;
    std::string name;
    bool creates;
    std::uint64_t bytes;
    Coherence coherence;
    std::uint64_t deadline_ns;
    WaiterId waiter;
    bool wait;
  };

  // A change of coherence that a thread waits for.
  struct Hinting {
    std::uint32_t number;
    ChunkId chunk;
    Coherence coherence;
    std::uint64_t deadline_ns;
    WaiterId waiter;
  };

  void send_hint(const Hinting& asked);
  bool hinted(const ChunkMessage& message);
  bool give_all_back();
  bool left(NodeId from);
  void repeat_hints(const std::vector<std::uint32_t>& moved);
  static bool can_go_over(const Copy& copy, Coherence to);
  void go_over(ChunkId id, Copy& copy, const Copy::Due& due);
  void gone_over(ChunkId id, Copy& copy);
  void step_back(ChunkId id, Copy& copy);
  void end_tries_in_line(ChunkId id, Copy& copy);
  void forget_bytes(ChunkId id, Copy& copy);
  void end_subscription(ChunkId id, Copy& copy);
  void send_ask(const Ask& ask);
  bool found(NodeId from, const ChunkMessage& message);
  bool learn(ChunkId id, const ChunkMessage& message, const std::string& name, bool owner);
  bool granted(NodeId from, const ChunkMessage& message, Bytes tail);
  bool give_back(ChunkId id, Copy& copy, const ChunkMessage& message);
  bool refused(const ChunkMessage& message);
  bool recalled(NodeId from, const ChunkMessage& message);
  bool evicted(const ChunkMessage& message);
  bool serving(NodeId from, const ChunkMessage& message);
  void lose_home(ChunkId id, Copy& copy);
  void lose_pushed(ChunkId id, Copy& copy);
  bool is_gone(const ChunkMessage& message);
  Copy* find_copy(std::uint64_t chunk);

  bool own(ChunkId chunk) const { return home_of(chunk, view_) == outbox_.self(); }
  static bool allows(const Copy& copy, Mode mode);
  static bool fits(const Copy& copy, Mode mode);
  static bool allows_pushed(const Copy& copy, Mode mode);
  static bool fits_pushed(const Copy& copy, Mode mode);
  void enter_pushed(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  void close_pushed(ChunkId id, Copy& copy, const Close& event);
  bool granted_pushed(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message, Bytes tail);
  Place free_place(ChunkId id, const Copy& copy) const;
  static void keep(Copy& copy, const Copy::Held& fresh);
  void tidy(ChunkId id, Copy& copy);
  void return_credit(ChunkId id, Copy& copy);
  bool credited(const ChunkMessage& message);
  void send_subscription(ChunkId id, const Copy& copy);
  void serve_takers(ChunkId id, Copy& copy);
  bool updated(NodeId from, const ChunkMessage& message, Bytes tail);
  static void check_pushed(const Copy& copy);
  void pump(ChunkId id, Copy& copy);
  bool admit(ChunkId id, Copy& copy);
  void enter(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  enum class Asked : std::uint8_t { kYes, kLater, kTold };
  Asked ask(ChunkId id, Copy& copy, std::size_t at);
  static std::size_t next_to_ask(const Copy& copy);
  static bool asks_exclusive(const Copy& copy, Mode mode);
  static bool may_ask(const Copy& copy, Mode mode);
  void send_request(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  void cancel_if_unwanted(ChunkId id, Copy& copy);
  bool can_yield(const Copy& copy, const Copy::Due& due) const;
  void yield(ChunkId id, Copy& copy, const Copy::Due& due);
  void evict(ChunkId id, Copy& copy);
  bool evictable(ChunkId id, const Copy& copy) const;

  // Memory. kSoon: there will be some once evictions are over.
  enum class Room : std::uint8_t { kThere, kSoon, kNone };
  Room make_room(ChunkId id, Copy& copy);
  std::uint64_t wanted_bytes(ChunkId id, const Copy& copy) const;
  void uncount(ChunkId id, Copy& copy);
  void recount(Copy& copy);
  void wake_starved();

  static constexpr int kWrittenPlaces = 2;  // one being written, one to look at
  static constexpr std::size_t kOwnPlaces = kWrittenPlaces + 1;

  std::uint64_t budget_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t leaving_bytes_ = 0;  // of it, evicted and not yet at their homes
  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::uint64_t, Copy> copies_;
  std::vector<Ask> asks_;
  std::vector<Hinting> hints_;
  std::vector<std::uint64_t> starved_;     // chunks whose front waiter waits for memory
  std::vector<std::uint32_t> rebuilding_;  // slots whose new homes may still need our copies
  std::uint32_t next_number_ = 1;
  std::uint64_t uses_ = 0;
  std::optional<WaiterId> leaves_;     // who waits until this node may leave
  bool asked_to_leave_ = false;        // the homes
  std::vector<NodeId> still_to_hear_;  // those that have not answered
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
