#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/interrupt_ledger.h"
#include "transport/part.h"
#include "transport/regions.h"
#include "transport/shm/card.h"
#include "transport/shm/inbox.h"
#include "transport/shm/outbox.h"
#include "transport/shm/peer_watch.h"
#include "waiting/delivery_turn.h"

namespace terrane::transport::shm {

// Messages between the nodes of one host through rings in shared memory (area.h has the layout).
// Owns the mappings of all inbound areas, and our backlogs. A peer's death is seen within some 20
// ms by a thread that polls or sleeps; what it sent before is delivered first.
class ShmTransport final : public PartTransport {
 public:
  static base::Result<std::unique_ptr<PartTransport>> connect(NodeId self, Area own,
                                                              std::vector<ShmCard> cards);
  ~ShmTransport() override;

  std::string_view name() const override { return "shm"; }
  void send(NodeId to, Bytes head, Bytes tail) override { outbox_.send(to, head, tail); }
  void send_unrung(NodeId to, Bytes message) override {
    outbox_.send(to, message, {}, Ring::kLater);
  }
  void ring(NodeId to, Sleepers whom) override { outbox_.ring(to, whom); }
  std::size_t poll(Receiver& receiver) override;
  void finish() override;
  bool pending() const override;
  void sleep(std::uint64_t timeout_ns) override { sleep_as(control_.sleeping, timeout_ns); }
  // What nobody waits for need not be left for a while: its sender says which threads it wakes.
  void sleep_beside(std::uint64_t timeout_ns, std::uint64_t) override {
    sleep_as(control_.beside, timeout_ns);
  }
  void attend() override { control_.attending.fetch_add(1); }
  bool unattend() override {
    control_.attending.fetch_sub(1);
    return pending();
  }
  void interrupt() override;
  std::byte* reach(NodeId peer, std::uint32_t region) override {
    return regions_.reach(peer, region);
  }
  std::uint64_t region_bytes(NodeId peer, std::uint32_t region) const override {
    return regions_.bytes(peer, region);
  }

  // For owners that sleep on descriptors.
  std::vector<int> news_fds() const override;
  bool look() override;
  bool arm() override;
  void attended(bool begins) override { control_.attending.fetch_add(begins ? 1 : ~0u); }

 private:
  ShmTransport(NodeId self, std::vector<Area> areas, std::vector<ShmCard> cards, PeerWatch watch);

  std::size_t look_after_peers(Receiver& receiver);
  std::size_t report_ended(Receiver& receiver);
  void lose(NodeId peer, Receiver& receiver, std::string_view why);
  void sleep_as(std::atomic<std::uint32_t>& sleeping, std::uint64_t timeout_ns);
  bool has_news();
  bool sleep_once(std::atomic<std::uint32_t>& sleeping, std::uint64_t timeout_ns);

  NodeId self_;
  std::vector<Area> areas_;  // by node; our own among them
  ControlPage& control_;     // ours
  Regions regions_;
  Outbox outbox_;
  Inbox inbox_;
  InterruptLedger interrupts_;

  waiting::DeliveryTurn turn_;  // guards what follows
  PeerWatch watch_;
  std::vector<bool> lost_;
  std::uint32_t polls_ = 0;
  std::uint64_t looked_at_ns_ = 0;
  std::atomic<bool> news_{true};  // poll() must ask watch_ who has ended
};

}  // namespace terrane::transport::shm
