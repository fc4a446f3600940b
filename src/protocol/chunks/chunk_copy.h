#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "protocol/chunks/chunk_outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// What a node has of a chunk: its state and bytes, the scopes that are open, the threads that wait,
// what was asked of the home, and its subscription.
struct ChunkCopy {
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
  bool blank = false;         // exclusive without bytes: for a writer of all of them
  bool given_back = false;    // what a shared request got, before the exclusive one was answered
  bool evicting = false;      // written bytes are on their way to the home, and kept till they are
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

  static constexpr int kWrittenPlaces = 2;  // one being written, one to look at
  static constexpr std::size_t kOwnPlaces = kWrittenPlaces + 1;

  bool pushed() const { return coherence != Coherence::kInvalidate; }
  // A work stream, whose versions WorkClient has; its memory is `counted` here.
  bool works() const { return coherence == Coherence::kWork; }
  bool ending() const { return due && due->mode == wire::RecallMode::kEnd; }
  bool hears_all() const { return range == Range{0, bytes}; }
  // Of kOwnPlaces: buffers that are no subscription's, and those that grants will bring.
  std::size_t own_places() const;
  // Whether the state lets a scope of this mode in; whether the other scopes here do.
  bool allows(Mode mode) const;
  bool fits(Mode mode) const;
  // The owner of a pushed chunk that has no bytes to begin from asks for them alone.
  bool asks_exclusive(Mode mode) const {
    return mode != Mode::kRead && !(pushed() && state == State::kExclusive);
  }
  // A reader of a pushed chunk does not wait along with a writer of its node, nor a writer with it.
  bool may_ask(Mode mode) const;
  // The first waiter for whom something is missing that has not been asked for, or how many there
  // are. Of a pushed chunk not only the front counts, and a try comes first: it must not wait for
  // what others wait for.
  std::size_t next_to_ask() const;
  // Whether open scopes let the copy go over to another coherence; let the recall be answered.
  bool can_go_over(Coherence to) const;
  bool can_yield(const Due& recall) const;
  // In the order of versions.
  void keep(const Held& fresh);
  // A buffer of the chunk that holds nothing.
  Place free_place(ChunkId id, const ChunkOutbox& outbox) const;
  // Scopes of what is pushed no more open in order; a try waits for none of them.
  void end_tries_in_line(ChunkId id, ChunkOutbox& outbox);
  // The threads that wait for a version, or poll, find that it has ended.
  void end_subscription(ChunkId id, ChunkOutbox& outbox);
  // To the home: what this node subscribes to; the room that versions have here again, once it is
  // half of the window; that a request is not wanted any more, if no thread waits.
  void send_subscription(ChunkId id, NodeId home, ChunkOutbox& outbox) const;
  void return_credit(ChunkId id, NodeId home, ChunkOutbox& outbox);
  void cancel_if_unwanted(ChunkId id, NodeId home, ChunkOutbox& outbox);
  // Gives versions that came by subscription to the threads that wait for them.
  void serve_takers(ChunkId id, ChunkOutbox& outbox);
  // awaits_home: a new home may still ask for the copy.
  bool is_evictable(bool awaits_home) const;
  void check_invariants() const;

 private:
  bool allows_pushed(Mode mode) const;
  bool fits_pushed(Mode mode) const;
  void check_pushed() const;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
