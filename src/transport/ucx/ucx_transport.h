#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/message_queue.h"
#include "transport/part.h"
#include "transport/regions.h"
#include "transport/sleep_room.h"
#include "transport/transport.h"
#include "transport/ucx/card.h"
#include "transport/ucx/inbox.h"
#include "transport/ucx/outbox.h"
#include "transport/ucx/worker.h"

namespace terrane::transport::ucx {

// Messages between nodes by UCX's active messages: TCP, or RDMA where the network has it. Owns the
// worker, the connections and what is queued. A peer is lost when its connection breaks; what it
// sent before, and has arrived, is delivered first.
class UcxTransport final : public PartTransport {
 public:
  struct Parts {
    NodeId self;
    std::unique_ptr<Worker> worker;
    std::uint64_t token;
    std::unique_ptr<Regions> own_regions;
    std::string description;
    bool level_triggered = false;  // the worker's descriptor tells of arrivals without being armed
  };
  // `cards` by node; `peers` are those that we shall send to.
  static base::Result<std::unique_ptr<UcxTransport>> connect(Parts parts,
                                                             std::vector<UcxCard> cards,
                                                             const std::vector<NodeId>& peers);
  ~UcxTransport() override;

  std::string_view name() const override { return "ucx"; }
  std::string describe() const override { return description_; }
  void send(NodeId to, Bytes head, Bytes tail) override;
  std::size_t poll(Receiver& receiver) override;
  bool pending() const override;
  void sleep(std::uint64_t timeout_ns) override { room_.sleep(timeout_ns); }
  void attend() override { room_.attend(); }
  bool unattend() override {
    return room_.unattend() || inbox_.has_deliverable() || self_queued_.load() != 0;
  }
  void interrupt() override { room_.interrupt(); }
  std::byte* reach(NodeId peer, std::uint32_t region) override;

  std::vector<int> news_fds() const override { return {worker_->event_fd()}; }
  bool look() override;
  bool arm() override;
  bool needs_arming() const override { return !level_triggered_; }

 private:
  UcxTransport(Parts parts, std::uint32_t nodes);
  base::Result<> meet(const std::vector<NodeId>& peers);
  void greet(NodeId peer);
  void progress();
  void look_after_peers(Receiver& receiver);
  void lose(NodeId peer, Receiver& receiver, std::string_view why);
  std::size_t deliver_to_self(Receiver& receiver);
  void send_to_self(Gather message);
  void answer_notices();
  void finish_sending();
  bool is_heard() const;
  void close_all();
  void wait_for_events();

  NodeId self_;
  std::string description_;
  bool level_triggered_;
  std::unique_ptr<Worker> worker_;
  ParcelPool pool_;
  mutable Outbox outbox_;  // whoever has been inside the worker sends for those who could not enter
  Inbox inbox_;
  std::unique_ptr<Regions> own_regions_;
  std::vector<bool> lost_;  // by the thread that is inside the worker
  SleepRoom room_;
  SpinLock self_lock_;  // guards to_self_
  MessageQueue to_self_;
  MessageQueue from_self_;  // by the thread that is inside the worker
  std::atomic<std::uint64_t> self_queued_{0};
};

}  // namespace terrane::transport::ucx
