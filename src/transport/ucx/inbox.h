#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "transport/parcel.h"
#include "transport/transport.h"
#include "transport/ucx/traffic.h"
#include "transport/ucx/worker.h"
#include "wire/frame.h"

namespace terrane::transport::ucx {

// What comes in by UCX: checks each frame, and puts messages that overtook each other back into
// their order. Owns those that have come and cannot be delivered yet. By the thread that is inside
// the worker, except has_deliverable().
class Inbox {
 public:
  Inbox(Worker& worker, ParcelPool& pool, std::uint64_t token, NodeId self, std::uint32_t nodes,
        Traffic traffic = Traffic::kMessages);
  ~Inbox();

  // Messages come in from now on, during progress.
  base::Result<> listen();

  // While there is a receiver, messages that are next in their order go to it at once, without a
  // copy. Returns how many have been delivered since the last call.
  void receive_by(Receiver* receiver) { receiver_ = receiver; }
  std::size_t take_delivered() { return std::exchange(delivered_, 0); }
  // Whether a message waits for a receiver.
  bool has_deliverable() const { return deliverable_.load() != 0; }
  // Gives those to the receiver.
  void deliver();

  // Peers that have sent what they must not, since the last call.
  bool has_broken() const { return !broken_.empty(); }
  std::vector<NodeId> take_broken() { return std::exchange(broken_, {}); }
  // By the receiver: what it was given makes no sense.
  void refuse(NodeId from) { refuse(sources_[from.value]); }
  // Peers of which we have heard for the first time, since the last call.
  bool has_notices() const { return !newcomers_.empty() || !farewells_.empty(); }
  std::vector<NodeId> take_newcomers() { return std::exchange(newcomers_, {}); }
  // Peers that have sent all and want to hear that it has arrived, since the last call.
  std::vector<NodeId> take_farewells() { return std::exchange(farewells_, {}); }
  bool has_heard(NodeId peer) const {
    return sources_[peer.value].heard || sources_[peer.value].closed;
  }
  // The peer has answered our farewell.
  bool farewell_heard(NodeId peer) const { return sources_[peer.value].farewell_heard; }

  // Delivers what the peer sent in full, if there is a receiver; nothing else comes from it.
  void close(NodeId from);
  // How much has been kept for a receiver that does not come.
  std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  enum class State : std::uint8_t { kAbsent, kComing, kReady };

  // A message that has come before its turn, or before a receiver.
  struct Slot {
    State state = State::kAbsent;
    wire::NetworkFrameKind kind = wire::NetworkFrameKind::kMessage;
    Parcel* parcel = nullptr;  // our copy
    void* held = nullptr;      // or UCX's memory
    std::size_t bytes = 0;
  };
  struct Source {
    std::uint64_t expected = 0;  // the sequence number of slots[0]
    std::deque<Slot> slots;
    bool counted = false;  // in deliverable_
    bool closed = false;
    bool heard = false;
    bool farewell_heard = false;
  };
  struct Arrival {
    const wire::NetworkFrame& frame;
    void* data;
    std::size_t bytes;
    std::uint64_t attributes;
  };

  static ucs_status_t on_message(void* inbox, const void* header, std::size_t header_bytes,
                                 void* data, std::size_t bytes, const ucp_am_recv_param_t* param);
  static void on_fetched(void* request, ucs_status_t status, std::size_t bytes, void* parcel);
  bool is_ours(const wire::NetworkFrame& frame) const;
  ucs_status_t arrive(const Arrival& arrival);
  ucs_status_t keep(Source& source, Slot& slot, const Arrival& arrival);
  ucs_status_t fetch(Source& source, Slot& slot, const Arrival& arrival);
  void fetched(Source& source, Parcel* parcel, ucs_status_t status);
  void hand_over(Source& source, wire::NetworkFrameKind kind, Bytes message);
  void deliver_ready(Source& source);
  void count(Source& source);
  void release(Slot& slot);
  void refuse(Source& source);
  NodeId id_of(const Source& source) const;

  Worker& worker_;
  ParcelPool& pool_;
  std::uint64_t token_;
  NodeId self_;
  Traffic traffic_;
  Receiver* receiver_ = nullptr;
  std::vector<Source> sources_;
  std::size_t delivered_ = 0;
  std::size_t kept_bytes_ = 0;
  std::atomic<std::uint32_t> deliverable_{0};  // sources
  std::vector<NodeId> broken_;
  std::vector<NodeId> newcomers_;
  std::vector<NodeId> farewells_;
};

}  // namespace terrane::transport::ucx
