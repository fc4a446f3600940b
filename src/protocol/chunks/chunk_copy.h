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

// What a node has of a chunk: the state and bytes of its copy, the open scopes, the waiting
// threads, the requests under way to the home, and the subscription.
struct ChunkCopy {
  std::string name;
  std::uint32_t ordinal = 0;  // number of copies that the node knew before
  bool gone = false;          // a pushed chunk whose home has died
  std::uint64_t bytes = 0;
  Coherence coherence = Coherence::kInvalidate;
  Coherence made = Coherence::kInvalidate;  // as its creator chose
  // This node has changed the chunk from kInvalidate to this coherence, and does not know yet
  // whether all nodes have. If the home dies before the node knows it, the node steps back to
  // kInvalidate. Until then it keeps the bytes that it had (has_bytes, at place 0).
  std::optional<Coherence> half;
  State state = State::kInvalid;
  bool has_bytes = false;     // the bytes of `version` are here, even if they may not be read any
                              // more; of a pushed chunk only while it is `half`
  std::uint64_t counted = 0;  // bytes of the budget
  bool blank = false;         // exclusive without bytes: for a scope that writes all of them
  bool given_back = false;    // the grant of the shared request was given back before the exclusive
                              // request was answered
  bool evicting = false;      // written bytes are on their way to the home, and are kept until they
                              // are there
  std::uint64_t version = 0;  // of the bytes
  std::uint64_t used = 0;     // the last use, as a count of uses; for eviction
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
    bool data;  // its grant carries bytes
    bool cancelled;
    WaiterId waiter;  // the thread that needs it
  };
  // Requests under way: [0] shared, [1] exclusive. A pushed chunk may have both, any other chunk
  // has one at a time.
  std::array<std::optional<Pending>, 2> pending;
  bool asks() const { return pending[0] || pending[1]; }
  Pending* find_request(std::uint32_t number);
  struct Due {
    wire::RecallMode mode;
    std::uint32_t turn;
    Coherence to = Coherence::kInvalidate;  // with kEnd
  };
  std::optional<Due> due;  // a recall that waits for a scope to end

  // Of a pushed chunk. `version` of the copy is the one that this node's next version follows.
  struct Held {
    std::uint64_t version = 0;
    Place place;
    std::uint32_t readers = 0;
    bool written = false;      // by a scope of this node
    bool snapshot = false;     // came with a grant
    bool fresh = false;        // came by subscription, and is not taken yet
    Range changed;             // of a version that came by subscription
    std::uint32_t missed = 0;  // versions that were left out before it
    bool received() const { return !written && !snapshot; }
  };
  std::vector<Held> held;              // sorted by version
  Place writing;                       // buffer of the open writing scope
  std::uint32_t credit = 0;            // versions that the home has room for
  std::uint64_t seen = 0;              // the newest version that a scope of this node has opened
  bool subscribed = false;             // or about to be: `subscriber`
  std::optional<WaiterId> subscriber;  // the thread that waits for the home's answer
  Range range;                         // the part that it subscribed to
  bool block = false;
  std::uint32_t number = 0;  // of the subscription
  std::uint32_t window = 0;
  std::uint32_t at_home = 0;  // credit at the home: versions that may still come
  std::uint64_t taken = 0;    // the last version that was taken
  struct Taker {
    WaiterId waiter;
    std::uint64_t deadline_ns;
  };
  std::deque<Taker> takers;

  static constexpr int kWrittenPlaces = 2;  // one that is being written, one that is read
  static constexpr std::size_t kOwnPlaces = kWrittenPlaces + 1;

  bool pushed() const { return coherence != Coherence::kInvalidate; }
  // A work stream. WorkClient has its versions; their memory is `counted` here.
  bool works() const { return coherence == Coherence::kWork; }
  bool ending() const { return due && due->mode == wire::RecallMode::kEnd; }
  bool hears_all() const { return range == Range{0, bytes}; }
  // How many of kOwnPlaces are in use: buffers that do not belong to the subscription, and those
  // for grants under way.
  std::size_t own_places() const;
  // Whether the state of the copy allows a scope of this mode; whether the other scopes of this
  // node do.
  bool allows(Mode mode) const;
  bool fits(Mode mode) const;
  // Whether a scope of this mode needs an exclusive request. The owner of a pushed chunk without
  // the bytes that its next version begins from asks only for them.
  bool asks_exclusive(Mode mode) const {
    return mode != Mode::kRead && !(pushed() && state == State::kExclusive);
  }
  // Whether a request for this mode may be sent now. In a pushed chunk a reader does not wait for
  // the request of a writer of its node, nor a writer for that of a reader.
  bool may_ask(Mode mode) const;
  // The index of the first waiter that needs a request that has not been sent; without one, the
  // number of waiters. In a pushed chunk waiters behind the front one count, too, and a try comes
  // first: it must not wait for what the others wait for.
  std::size_t next_to_ask() const;
  // Whether open scopes allow the copy to change to another coherence; and allow an answer to the
  // recall.
  bool can_go_over(Coherence to) const;
  bool can_yield(const Due& recall) const;
  // Enters a version into `held`.
  void keep(const Held& fresh);
  // The number of an unused buffer of the chunk.
  Place free_place(ChunkId id, const ChunkOutbox& outbox) const;
  // The chunk is not pushed any more, so its scopes open in order: answers kBusy to all tries but
  // the first waiter.
  void end_tries_in_line(ChunkId id, ChunkOutbox& outbox);
  // The thread that subscribes has its answer, if it waits for one.
  void answer_subscriber(Status status, ChunkId id, ChunkOutbox& outbox);
  // Ends the subscription; threads that wait for a version, or poll, are notified.
  void end_subscription(ChunkId id, ChunkOutbox& outbox);
  // Messages to the home. The subscription of this node; credit for room that is free again, once
  // it is half of the window; the cancellation of the requests, if no thread waits.
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
