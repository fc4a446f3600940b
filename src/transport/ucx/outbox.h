#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.h"
#include "transport/gather.h"
#include "transport/parcel.h"
#include "transport/ucx/traffic.h"
#include "transport/ucx/worker.h"
#include "wire/frame.h"

namespace terrane::transport::ucx {

// All ways out of a node by UCX: per peer an endpoint, what UCX still works on, and a queue of what
// waits, in order. Owns the endpoints and the copies. send() may be called by any thread at any
// time; all else by the thread that is inside the worker.
class Outbox {
 public:
  struct Failure {
    NodeId peer;
    ucs_status_t status;
  };

  Outbox(Worker& worker, ParcelPool& pool, NodeId self, std::uint32_t nodes, bool sockets_alone);
  ~Outbox();

  // Tells where a peer is. Its messages wait until connect().
  void add(NodeId peer, std::vector<std::byte> address, std::uint64_t token);
  // Opens the way to a peer that has none yet; what UCX must do to connect goes on in later
  // progress. A peer that cannot be reached, as one that has ended already, is a failure.
  void connect(NodeId peer);
  // nullptr when there is none, or no longer.
  ucp_ep_h endpoint(NodeId peer) const {
    return lanes_[peer.value].lost ? nullptr : lanes_[peer.value].endpoint;
  }
  // Whether messages to the peer can still arrive.
  bool is_open(NodeId peer) const { return !lanes_[peer.value].lost; }

  // Sends a message now where that is possible at once, or queues a copy.
  void send(NodeId to, Bytes head, Bytes tail, Traffic traffic = Traffic::kMessages);
  void send_notice(NodeId to, wire::NetworkFrameKind kind);
  // Leaves the worker, and sends what other threads queued because it was taken.
  void leave_worker();
  // Moves the queues on.
  void advance();
  // Something waits for UCX to send it.
  bool is_busy() const { return queued_.load() != 0 || in_flight_.load() != 0; }
  bool has_queued() const { return queued_.load() != 0; }
  bool has_queued(NodeId peer) const { return lanes_[peer.value].queued.load() != 0; }
  // What is sent to the peer now would wait behind much else.
  bool is_crowded(NodeId peer) const;
  // Whether anything was ever sent to the peer.
  bool has_sent(NodeId peer) const {
    const Lane& lane = lanes_[peer.value];
    return lane.next_sequence[0] != 0 || lane.next_sequence[1] != 0;
  }

  // Connections that UCX has given up since the last call.
  bool has_failures() const { return has_failures_.load(); }
  std::vector<Failure> take_failures();
  // The peer is gone: drops what waits for it and all that is sent to it later.
  void drop(NodeId peer);
  void close(NodeId peer);
  // Closings that UCX still works on.
  std::uint32_t closing() const { return closing_; }

 private:
  struct Lane {
    Outbox* outbox = nullptr;
    NodeId peer;
    ucp_ep_h endpoint = nullptr;
    std::vector<std::byte> address;  // until it is connected
    std::uint64_t token = 0;         // the peer's
    std::array<std::uint64_t, kTraffics> next_sequence{};
    bool lost = false;
    std::uint32_t in_flight = 0;
    std::size_t in_flight_bytes = 0;
    // Behind a long message others may overtake it, and are kept at the receiver until it has
    // arrived: so only so many.
    std::uint32_t long_in_flight = 0;
    std::uint32_t behind = 0;
    std::size_t behind_bytes = 0;
    SpinLock lock;  // of the queue
    ParcelList queue;
    std::atomic<std::uint32_t> queued{0};
  };

  void settle();
  void submit(Lane& lane, wire::NetworkFrameKind kind, Gather message);
  void push(Lane& lane, Parcel* parcel);
  wire::NetworkFrame next_frame(const Lane& lane, wire::NetworkFrameKind kind,
                                std::size_t bytes) const;
  bool has_room(const Lane& lane, std::size_t bytes) const;
  bool send_at_once(Lane& lane, wire::NetworkFrameKind kind, Bytes message);
  void account_sent(Lane& lane, wire::NetworkFrameKind kind, std::size_t bytes);
  void start(Lane& lane, Parcel* parcel);
  void advance(Lane& lane);
  void completed(Lane& lane, std::size_t bytes);
  static void on_sent(void* request, ucs_status_t status, void* parcel);
  static void on_failure(void* lane, ucp_ep_h endpoint, ucs_status_t status);
  static void on_closed(void* request, ucs_status_t status, void* outbox);

  Worker& worker_;
  ParcelPool& pool_;
  NodeId self_;
  std::deque<Lane> lanes_;
  std::vector<std::byte> scratch_;  // joins the parts of what is sent at once
  std::atomic<std::uint32_t> queued_{0};
  std::atomic<std::uint32_t> in_flight_{0};
  std::atomic<bool> submitted_{false};  // by threads that could not enter the worker
  std::atomic<bool> has_failures_{false};
  std::vector<Failure> failures_;
  std::uint32_t closing_ = 0;
};

}  // namespace terrane::transport::ucx
