#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "transport/shm/area.h"
#include "transport/shm/ring_reader.h"
#include "transport/transport.h"

namespace terrane::transport::shm {

// All ways into a node. The rings of the few peers that talk most are watched: looked at directly,
// which makes a small message one cache-line transfer; the others set a bit, so that a look costs
// the same however many nodes there are. Owns the readers. One thread delivers at a time; pending()
// may be called by any.
class Inbox {
 public:
  Inbox(const Area& own, std::uint32_t nodes);

  // The next sender's ring; `sender` wakes it.
  void add(RingView ring, Doorbell sender);

  // Delivers what has arrived, a bounded number of messages from each sender. Returns how many.
  std::size_t deliver(Receiver& receiver);
  // Delivers all that a sender left behind when it died, and nothing from it later.
  std::size_t deliver_last(NodeId from, Receiver& receiver);
  bool pending() const;
  // Senders whose frames made no sense, since they were last taken.
  bool has_broken() const { return !broken_.empty(); }
  std::vector<NodeId> take_broken() { return std::exchange(broken_, {}); }

 private:
  static constexpr std::size_t kWatched = 8;

  struct Source {
    Source(RingView ring, Doorbell sender) : control(ring.control), reader(ring, sender) {}

    RingControl* control;
    RingReader reader;
    bool closed = false;
  };
  struct Watch {
    std::atomic<const std::atomic<std::uint64_t>*> next{nullptr};  // nullptr: free
    NodeId from = kNoNode;
    std::uint32_t idle_rounds = 0;
  };
  struct Drained {
    std::size_t messages = 0;
    bool to_the_end = false;  // nothing was left at the last look
  };

  Drained drain(NodeId from, Receiver& receiver, std::uint64_t most_frames);
  std::size_t deliver_watched(Receiver& receiver);
  void watch(NodeId from);
  void unwatch(Watch& watch);
  void remind(NodeId from);
  void close(NodeId from);

  ControlPage& control_;
  Doorbell doorbell_;  // ours
  std::uint32_t nodes_;
  std::deque<Source> sources_;
  std::array<Watch, kWatched> watches_;
  std::vector<NodeId> broken_;
  std::atomic<std::uint64_t> silence_{0};  // what the watch of a closed source looks at
};

}  // namespace terrane::transport::shm
