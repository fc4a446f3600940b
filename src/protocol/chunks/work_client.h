#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/chunks/slots.h"
#include "protocol/chunks/work_instrument.h"
#include "protocol/chunks/work_message.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Memory for versions on this node, from the budget for copies.
class WorkBudget {
 public:
  enum class Room : std::uint8_t { kThere, kSoon, kNone };
  virtual Room reserve(ChunkId chunk, std::uint64_t bytes) = 0;
  virtual void give_back(ChunkId chunk, std::uint64_t bytes) = 0;

 protected:
  ~WorkBudget() = default;
};

// The client of a node for work streams: the versions that the node writes, and those that it has
// taken.
class WorkClient {
 public:
  WorkClient(WorkBudget& budget, const View& view, ChunkOutbox& outbox)
      : budget_(budget), view_(view), outbox_(outbox) {}

  // This node has created or found a stream. home: kNoNode if it has none yet.
  void learn(ChunkId id, const std::string& name, std::uint64_t bytes, const WorkShape& shape,
             NodeId home);
  void write(const WorkWrite& event);
  void publish(const WorkPublish& event);
  void subscribe(const WorkSubscribe& event);
  void unsubscribe(ChunkId chunk);
  void take(const WorkTake& event);
  void release(const WorkRelease& event);
  void end(const WorkEnd& event);
  void elapsed(std::uint64_t now_ns);
  // The next deadline of a waiting thread; kNever: no thread has one.
  std::uint64_t next_deadline_ns() const;
  // Memory of the budget has become free.
  void memory_freed();
  // `moved`: slots whose names have new homes.
  void view_changed(const std::vector<std::uint32_t>& moved);
  // Reports the stream to the new home of its name.
  void report(ChunkId id) const;
  // leave(): this node leaves, and its subscriptions end. may_leave(): the homes have everything
  // that it sent, and what it has taken is done.
  void leave();
  bool may_leave() const;
  // A message of a home, also of this node's own. False: malformed.
  bool received(NodeId from, const ChunkMessage& message, Bytes tail);

  struct Stream {
    std::string name;
    std::uint64_t bytes = 0;  // of a full version
    WorkShape shape;
    NodeId home = kNoNode;
    bool asks = false;  // has asked the name's home for the stream's home
    bool gone = false;  // its home has died

    // Writing.
    enum class Writer : std::uint8_t { kNo, kAsks, kYes } writer = Writer::kNo;
    std::uint64_t credit = 0;
    bool stopped = false;        // no version may be written any more
    NodeId no_taker = kNoNode;   // the last subscriber, if it has died
    std::vector<Place> writing;  // places of versions that are open
    struct Waiter {
      WaiterId waiter;
      Wait wait;
      std::uint64_t deadline_ns;
    };
    std::deque<Waiter> writers;
    std::uint32_t puts = 0;
    // Versions that were taken here and are not done before the put of this number is.
    struct Source {
      std::uint64_t chunk;
      std::uint64_t version;
      std::uint32_t subscription;
    };
    std::map<std::uint32_t, std::vector<Source>> put;

    // Taking.
    bool subscribed = false;
    std::optional<WaiterId> subscriber;  // the thread that waits for the answer
    std::uint32_t number = 0;            // of the subscription
    std::uint64_t window = 0;            // credit in bytes
    std::uint64_t reserved = 0;          // bytes that are reserved in the budget
    bool drained = false;
    enum class Use : std::uint8_t { kFresh, kOpen, kClosed };
    struct Taken {
      std::uint64_t version = 0;
      Place place;
      WorkVersion what;
      std::uint32_t subscription = 0;
      Use use = Use::kFresh;
      std::uint32_t results = 0;  // versions made from this one that are not done
      bool released = false;      // the home knows that it needs no credit any more
    };
    std::deque<Taken> taken;
    std::deque<Waiter> takers;
    std::vector<std::uint64_t> done;  // versions that are done, and not reported yet
    std::uint64_t done_bytes = 0;

    std::deque<WaiterId> enders;
    bool leaves = false;  // this node leaves, and the home has not answered

    bool may_write() const { return credit >= work_cost(bytes, bytes); }
  };
  // nullptr: this node does not know it.
  const Stream* stream(ChunkId chunk) const;
  void check_invariants() const;

 private:
  Stream* find(ChunkId chunk);
  void seek_home(ChunkId id, Stream& stream, bool here);
  bool placed(const ChunkMessage& message);
  void go_on(ChunkId id, Stream& stream);
  void send_shape(ChunkId id, const Stream& stream, ChunkMessage message);
  void send_subscription(ChunkId id, Stream& stream);
  void send_end(ChunkId id, const Stream& stream);
  void pump_writers(ChunkId id, Stream& stream);
  void refuse_writers(ChunkId id, Stream& stream, Status status, std::uint64_t version = 0);
  bool open(ChunkId id, Stream& stream);
  void close(ChunkId id, Stream& stream, Place place);
  bool settled(ChunkId id, Stream& stream, const ChunkMessage& message, Bytes tail);
  void forget_put(const std::vector<Stream::Source>& sources);
  bool subscribed(ChunkId id, Stream& stream, const ChunkMessage& message);
  bool given(NodeId from, ChunkId id, Stream& stream, const ChunkMessage& message, Bytes tail);
  void serve_takers(ChunkId id, Stream& stream);
  void end_takers(ChunkId id, Stream& stream, Status status);
  void finish(ChunkId id, Stream& stream, const Stream::Taken& taken);
  void tell_done(ChunkId id, Stream& stream);
  void tell_released(ChunkId id, Stream& stream);
  void shrink(ChunkId id, Stream& stream);
  void lose(ChunkId id, Stream& stream);
  Place free_place(ChunkId id, const Stream& stream) const;
  bool is_here(const Stream& stream) const { return stream.home == outbox_.self(); }

  WorkBudget& budget_;
  const View& view_;
  ChunkOutbox& outbox_;
  std::map<std::uint64_t, Stream> streams_;
  std::vector<std::uint64_t> starved_;  // streams whose writers wait for memory
  std::uint32_t next_number_ = 1;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
