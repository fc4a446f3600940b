#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "transport/message_queue.h"
#include "transport/spin_lock.h"
#include "transport/transport.h"

namespace terrane::transport::delay {

// A transport that holds messages back until they are due: each carries the time of its sending.
// Owns the transport below and what it holds back. What came before a loss is delivered before it.
class DelayedTransport final : public Transport, private Receiver {
 public:
  // `delayed` by node.
  DelayedTransport(std::unique_ptr<Transport> inner, std::uint64_t latency_ns,
                   std::vector<bool> delayed);

  std::string_view name() const override { return inner_->name(); }
  std::string describe() const override;
  std::uint64_t bandwidth(NodeId peer) const override { return inner_->bandwidth(peer); }
  base::Result<> admit(NodeId node, Card card) override {
    return inner_->admit(node, std::move(card));
  }
  base::Result<> meet(std::span<const NodeId> peers) override { return inner_->meet(peers); }
  void send(NodeId to, Bytes head, Bytes tail) override;
  std::size_t poll(Receiver& receiver) override;
  void finish() override { inner_->finish(); }
  bool pending() const override { return is_due() || inner_->pending(); }
  std::uint64_t moves() const override { return inner_->moves(); }
  void sleep(std::uint64_t timeout_ns) override;
  void attend() override;
  bool unattend() override;
  void interrupt() override { inner_->interrupt(); }
  std::byte* reach(NodeId peer, std::uint32_t region) override {
    return inner_->reach(peer, region);
  }
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

 private:
  struct Held {
    std::uint64_t due_ns;
    std::vector<std::byte> message;
    std::string lost;  // or the loss of the peer
  };

  void received(NodeId from, Bytes message) override;
  void lost(NodeId peer, std::string_view why) override;
  std::size_t deliver_due(Receiver& receiver);
  bool is_due() const;
  void tell_sleepers();
  void wait_for_answer(NodeId peer, std::uint64_t asked_ns) const;
  void note_started(NodeId peer);

  std::unique_ptr<Transport> inner_;
  std::uint64_t latency_ns_;
  std::vector<bool> delayed_;
  // By peer: when something was last started that quiet() waits for.
  std::vector<std::atomic<std::uint64_t>> started_ns_;
  std::atomic<std::uint64_t> next_due_ns_;  // of all that is held; the largest number: none is
  std::atomic<std::uint32_t> attending_{0};
  SpinLock delivering_;                 // held by the thread that delivers; guards held_
  std::vector<std::queue<Held>> held_;  // by sender
};

}  // namespace terrane::transport::delay
