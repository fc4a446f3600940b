#pragma once

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
  void drop(ChunkId chunk);
  void elapsed(std::uint64_t now_ns);
  // From a server, also this node's own; false: malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);

  // The next deadline of somebody who waits; kNever: of nobody.
  std::uint64_t next_deadline_ns() const;

  struct Copy {
    std::uint64_t bytes = 0;
    Coherence coherence = Coherence::kInvalidate;
    State state = State::kInvalid;
    bool has_bytes = false;  // those of `version`, also where they may not be read any more
    bool counted = false;    // in the budget
    bool blank = false;      // exclusive without bytes: for who writes all of them
    bool evicting = false;   // written bytes are on their way to the home, and kept till they are
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
      bool exclusive;
      bool tries;
      bool cancelled;
    };
    std::optional<Pending> pending;  // one request at a time
    struct Due {
      wire::RecallMode mode;
      std::uint32_t turn;
    };
    std::optional<Due> due;  // a recall that waits for a scope to end
  };
  const Copy* copy(ChunkId chunk) const;
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

  void send_ask(const Ask& ask);
  bool found(NodeId from, const ChunkMessage& message);
  bool learn(ChunkId id, const ChunkMessage& message, bool owner);
  bool granted(NodeId from, const ChunkMessage& message, Bytes tail);
  bool refused(const ChunkMessage& message);
  bool recalled(NodeId from, const ChunkMessage& message);
  bool evicted(const ChunkMessage& message);
  Copy* find_copy(std::uint64_t chunk);

  bool own(ChunkId chunk) const { return home_of(chunk, view_) == outbox_.self(); }
  static bool allows(const Copy& copy, Mode mode);
  static bool fits(const Copy& copy, Mode mode);
  void pump(ChunkId id, Copy& copy);
  bool admit(ChunkId id, Copy& copy);
  void enter(ChunkId id, Copy& copy, const Copy::Waiter& waiter);
  bool ask_for_front(ChunkId id, Copy& copy);
  void cancel_if_unwanted(ChunkId id, Copy& copy);
  bool can_yield(const Copy& copy, wire::RecallMode mode) const;
  void yield(ChunkId id, Copy& copy, wire::RecallMode mode, std::uint32_t turn);
  void evict(ChunkId id, Copy& copy);
  static bool evictable(const Copy& copy);

  // Memory. kBlock: there will be some once evictions are over; kTry: there is none.
  enum class Room : std::uint8_t { kThere, kSoon, kNone };
  Room make_room(ChunkId id, Copy& copy);
  void uncount(ChunkId id, Copy& copy);
  void wake_starved();

  std::uint64_t budget_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t leaving_bytes_ = 0;  // of it, evicted and not yet at their homes
  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::uint64_t, Copy> copies_;
  std::vector<Ask> asks_;
  std::vector<std::uint64_t> starved_;  // chunks whose front waiter waits for memory
  std::uint32_t next_number_ = 1;
  std::uint64_t uses_ = 0;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
