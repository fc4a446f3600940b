#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/message_calls.h"
#include "transport/part.h"
#include "transport/regions.h"
#include "transport/routed/end.h"
#include "transport/self_queue.h"
#include "transport/sleep_room.h"
#include "transport/spin_lock.h"
#include "transport/transport.h"

namespace terrane::transport::routed {

// Of messages between ends.
enum Tag : std::uint16_t { kMessageTag = 0, kRequestTag = 1, kAnswerTag = 2 };

// A region of a peer: its size, and whether the peer serves calls on it.
struct RoutedRegion {
  std::uint64_t bytes = 0;
  std::uint64_t is_served = 0;
};

// The regions of a node, as its card tells them. nullopt: the bytes make no sense.
std::vector<std::byte> encode_card(const std::vector<RoutedRegion>& regions);
std::optional<std::vector<RoutedRegion>> decode_card(Bytes card);

// Messages between nodes that cannot reach each other: each is connected to the gateways of its own
// cluster, which carry them on. One-sided calls are messages, too, which the target's transport
// answers. Owns the connections. A peer is lost when no gateway leads to it any more.
class RoutedTransport final : public PartTransport, private CallCarrier {
 public:
  struct Parts {
    NodeId self;
    std::unique_ptr<Regions> own_regions;
    std::vector<std::vector<RoutedRegion>> regions;  // by node
    std::vector<std::uint64_t> bandwidths;           // by node; bytes a second
    std::vector<NodeId> peers;                       // that this node sends to by gateways
    std::unique_ptr<End> end;
    std::string description;
  };
  // Returns once gateways lead to all peers.
  static base::Result<std::unique_ptr<RoutedTransport>> connect(Parts parts);
  ~RoutedTransport() override;

  std::string_view name() const override { return "routed"; }
  std::string describe() const override { return description_; }
  std::uint64_t bandwidth(NodeId peer) const override {
    return peer == self_ ? 0 : bandwidths_[peer.value];
  }
  base::Result<> admit(NodeId node, Card card) override;
  base::Result<> meet(std::span<const NodeId> peers) override;
  void send(NodeId to, Bytes head, Bytes tail) override;
  std::size_t poll(Receiver& receiver) override;
  void finish() override;
  bool pending() const override;
  std::uint64_t moves() const override { return moves_.load(std::memory_order_relaxed); }
  void sleep(std::uint64_t timeout_ns) override { room_.sleep(timeout_ns); }
  void sleep_beside(std::uint64_t timeout_ns, std::uint64_t patience_ns) override {
    room_.sleep(timeout_ns, patience_ns);
  }
  void attend() override { room_.attend(); }
  bool unattend() override { return room_.unattend() || has_kept() || !to_self_.empty(); }
  void interrupt() override { room_.interrupt(); }

  std::byte* reach(NodeId peer, std::uint32_t region) override;
  std::uint64_t region_bytes(NodeId peer, std::uint32_t region) const override;
  base::Result<> put(NodeId peer, RemoteAddress to, Bytes from) override;
  base::Result<> get(NodeId peer, RemoteAddress from, WritableBytes into) override;
  base::Result<> put_nbi(NodeId peer, RemoteAddress to, Bytes from) override;
  base::Result<> get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) override;
  base::Result<std::uint64_t> atomic_fetch(NodeId peer, RemoteAddress word,
                                           const Atomic& atomic) override;
  base::Result<> atomic_fetch_nbi(NodeId peer, RemoteAddress word, const Atomic& atomic,
                                  std::byte* into) override;
  base::Result<> atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) override;
  base::Result<> put_and_set(NodeId peer, RemoteAddress to, Bytes from, RemoteAddress word,
                             std::uint64_t value) override;
  base::Result<> quiet(NodeId peer) override;
  base::Result<> quiet() override;

  void sleep_in(SleepRoom& room) override { sleepers_room_ = &room; }
  std::vector<int> news_fds() const override { return {end_->poll_fd()}; }
  bool look() override;
  bool arm() override { return !has_news(); }
  bool needs_arming() const override { return false; }

 private:
  // What has come while no receiver was there.
  struct Kept {
    NodeId from;
    std::vector<std::byte> message;
    std::string lost;  // not empty: why
  };
  class Incoming;

  explicit RoutedTransport(Parts parts);
  base::Result<> wait_for(std::span<const NodeId> peers);
  bool has_kept() const { return kept_count_.load() != 0; }
  bool has_news() const;
  bool is_taking() const;
  std::size_t take_in(Receiver* receiver);
  void keep(Kept kept);
  std::size_t deliver_kept(Receiver& receiver);
  void nap();

  void send_call(NodeId to, const CallHeader& header, Bytes data) override;
  void wait_until(const std::function<bool()>& done) override;
  bool is_in_receiver() const override { return is_taking(); }
  bool is_full(NodeId peer) const override;
  bool is_served(NodeId node, std::uint32_t region) const override;

  NodeId self_;
  std::string description_;
  std::unique_ptr<Regions> own_regions_;
  std::vector<std::vector<RoutedRegion>> regions_;
  std::vector<std::uint64_t> bandwidths_;  // by node
  std::unique_ptr<End> end_;
  MessageCalls calls_;
  SelfQueue to_self_;
  SleepRoom room_;
  SleepRoom* sleepers_room_ = &room_;
  std::atomic<std::uint64_t> moves_{0};
  SpinLock taking_;  // held by the thread that takes in; guards what follows
  std::atomic<pthread_t> taker_{};
  bool has_finished_ = false;
  std::deque<Kept> kept_;
  std::atomic<std::size_t> kept_bytes_{0};
  std::atomic<std::size_t> kept_count_{0};
};

}  // namespace terrane::transport::routed
