#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/message_calls.h"
#include "transport/part.h"
#include "transport/regions.h"
#include "transport/self_queue.h"
#include "transport/sleep_room.h"
#include "transport/transport.h"
#include "transport/ucx/card.h"
#include "transport/ucx/inbox.h"
#include "transport/ucx/outbox.h"
#include "transport/ucx/remote_memory.h"
#include "transport/ucx/worker.h"

namespace terrane::transport::ucx {

// Messages between nodes by UCX's active messages: TCP, or RDMA where the network has it. Owns the
// worker, the connections and what is queued. A peer is lost when its connection breaks; what it
// sent before, and has arrived, is delivered first.
class UcxTransport final : public PartTransport, private CallCarrier {
 public:
  struct Parts {
    NodeId self;
    std::unique_ptr<Worker> worker;
    std::uint64_t token;
    std::unique_ptr<Regions> own_regions;
    std::string description;
    // None of the ways is RDMA. Then the worker's descriptor tells of arrivals without being armed.
    bool sockets_alone = false;
    std::uint64_t bandwidth = 0;  // bytes a second
    // The peers do not know us yet: meet() waits for them.
    bool joins = false;
  };
  // `cards` by node; `peers` are those that we shall send to.
  static base::Result<std::unique_ptr<UcxTransport>> connect(Parts parts,
                                                             std::vector<UcxCard> cards,
                                                             const std::vector<NodeId>& peers);
  ~UcxTransport() override;

  std::string_view name() const override { return "ucx"; }
  std::string describe() const override { return description_; }
  std::uint64_t bandwidth(NodeId peer) const override { return peer == self_ ? 0 : bandwidth_; }
  base::Result<> admit(NodeId node, Card card) override;
  base::Result<> meet(std::span<const NodeId> peers) override;
  void send(NodeId to, Bytes head, Bytes tail) override;
  std::size_t poll(Receiver& receiver) override;
  void finish() override;
  bool pending() const override;
  void sleep(std::uint64_t timeout_ns) override { room_.sleep(timeout_ns); }
  void sleep_beside(std::uint64_t timeout_ns, std::uint64_t patience_ns) override {
    room_.sleep(timeout_ns, patience_ns);
  }
  std::uint64_t moves() const override { return moves_.load(std::memory_order_relaxed); }
  void attend() override { room_.attend(); }
  bool unattend() override {
    return room_.unattend() || inbox_.has_deliverable() || !to_self_.empty();
  }
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
  base::Result<> fence() override;
  base::Result<> quiet(NodeId peer) override;
  base::Result<> quiet() override;

  void sleep_in(SleepRoom& room) override { sleepers_room_ = &room; }
  std::vector<int> news_fds() const override { return {worker_->event_fd()}; }
  bool look() override;
  bool arm() override;
  bool needs_arming() const override { return !sockets_alone_; }

 private:
  UcxTransport(Parts parts, std::vector<std::vector<UcxCard::Region>> regions);
  base::Result<> wait_for(std::span<const NodeId> peers);
  void greet(NodeId peer);
  bool progress();  // true when something moved
  void look_after_peers(Receiver& receiver);
  void lose(NodeId peer, Receiver& receiver, std::string_view why);
  void answer_notices();
  bool is_heard() const;
  bool has_met_newcomers() const;
  void close_all();
  void wait_for_events();

  // Serves the calls of peers, and takes their answers to ours.
  class CallReceiver final : public Receiver {
   public:
    explicit CallReceiver(UcxTransport& transport) : transport_(transport) {}
    void received(NodeId from, Bytes call) override;
    void lost(NodeId, std::string_view) override {}

   private:
    UcxTransport& transport_;
  };

  // One-sided calls.
  void send_call(NodeId to, const CallHeader& header, Bytes data) override;
  void wait_until(const std::function<bool()>& done) override;
  bool is_in_receiver() const override { return worker_->inside(); }
  bool is_full(NodeId peer) const override { return outbox_.is_crowded(peer); }
  bool is_served(NodeId node, std::uint32_t region) const override {
    return memory_.is_served(node, region);
  }
  bool by_ucx(NodeId peer, std::uint32_t region) const;
  void lose_failed();
  base::Result<> describe(NodeId peer, ucs_status_t status) const;
  bool has_news() const;
  void nap();
  base::Result<> finish(NodeId peer, ucs_status_ptr_t request);
  template <typename Start>
  base::Result<> perform(NodeId peer, Start start);
  template <typename Start>
  base::Result<> begin(NodeId peer, Start start);
  base::Result<> flush(std::uint32_t first, std::uint32_t end);

  NodeId self_;
  std::string description_;
  bool sockets_alone_;
  bool joins_;
  std::uint64_t bandwidth_;
  std::unique_ptr<Worker> worker_;
  ParcelPool pool_;
  mutable Outbox
      outbox_;  // a thread that has been inside the worker sends for those that could not enter
  Inbox inbox_;
  CallReceiver call_receiver_{*this};
  Inbox calls_in_;
  std::unique_ptr<Regions> own_regions_;
  std::vector<NodeId> admitted_;  // guarded by the worker
  std::vector<bool> lost_;        // by the thread that is inside the worker
  bool has_finished_ = false;     // the same
  RemoteMemory memory_;
  MessageCalls calls_;
  SleepRoom room_;
  SleepRoom* sleepers_room_ = &room_;  // where our threads sleep: here, or in an owner's room
  SelfQueue to_self_;
  std::atomic<std::uint64_t> moves_{0};
};

}  // namespace terrane::transport::ucx
