#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/part.h"
#include "transport/sleep_room.h"
#include "transport/spin_lock.h"
#include "transport/transport.h"

namespace terrane::transport::mixed {

// Two transports as one: shared memory for the peers of this host, the network for the others. Owns
// both. The near one knows the nodes of this host alone, counted from 0.
class MixedTransport final : public Transport {
 public:
  static base::Result<std::unique_ptr<Transport>> join(const Placement& placement,
                                                       std::unique_ptr<PartTransport> near,
                                                       std::unique_ptr<PartTransport> far);

  std::string_view name() const override { return "mixed"; }
  std::string describe() const override;
  std::uint64_t bandwidth(NodeId peer) const override {
    return is_near(peer) ? 0 : far_->bandwidth(peer);
  }
  // From another host alone.
  base::Result<> admit(NodeId node, Card card) override;
  base::Result<> meet(std::span<const NodeId> peers) override;
  void send(NodeId to, Bytes head, Bytes tail) override;
  void send_unrung(NodeId to, Bytes message) override;
  void ring(NodeId to, Sleepers whom) override;
  std::size_t poll(Receiver& receiver) override;
  bool pending() const override;
  std::uint64_t moves() const override { return far_->moves(); }
  void sleep(std::uint64_t timeout_ns) override { room_.sleep(timeout_ns); }
  void sleep_beside(std::uint64_t timeout_ns, std::uint64_t patience_ns) override {
    room_.sleep(timeout_ns, patience_ns);
  }
  void attend() override;
  bool unattend() override;
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
  base::Result<> fence() override;
  base::Result<> quiet(NodeId peer) override;
  base::Result<> quiet() override;

 private:
  MixedTransport(const Placement& placement, std::unique_ptr<PartTransport> near,
                 std::unique_ptr<PartTransport> far);
  base::Result<> watch(PartTransport& part);
  bool is_near(NodeId node) const {
    return node.value < near_name_.size() && near_name_[node.value] != kNoNode;
  }

  std::vector<NodeId> near_name_;   // by node: its name in near_, or kNoNode
  std::vector<NodeId> near_nodes_;  // by name in near_
  std::unique_ptr<PartTransport> near_;
  std::unique_ptr<PartTransport> far_;
  SleepRoom room_;
  SpinLock delivering_;  // held by the thread that delivers; guards polls_
  std::uint32_t polls_ = 0;
};

}  // namespace terrane::transport::mixed
