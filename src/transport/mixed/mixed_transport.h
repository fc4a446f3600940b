#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/part.h"
#include "transport/sleep_room.h"
#include "transport/spin_lock.h"
#include "transport/transport.h"

namespace terrane::transport::mixed {

// A node's card: those of its parts, in bytes. Borrows them.
struct SplitCard {
  Bytes near, far, routed;
};
std::vector<std::byte> join_card(const SplitCard& parts);
// nullopt: the bytes make no sense.
std::optional<SplitCard> split_card(Bytes card);

// Several transports as one: shared memory for the peers of this host, the network for the others,
// gateways for those of other clusters where the job has gateways. Owns them. The near one knows
// the nodes of this host alone, counted from 0.
class MixedTransport final : public Transport {
 public:
  // `far`, `routed`: nullptr where no peer is reached that way.
  struct Parts {
    std::unique_ptr<PartTransport> near, far, routed;
  };
  static base::Result<std::unique_ptr<Transport>> join(const Placement& placement, Parts parts);

  std::string_view name() const override { return "mixed"; }
  std::string describe() const override;
  std::uint64_t bandwidth(NodeId peer) const override {
    return is_near(peer) ? 0 : part(peer).bandwidth(peer);
  }
  // From another host alone.
  base::Result<> admit(NodeId node, Card card) override;
  base::Result<> meet(std::span<const NodeId> peers) override;
  void send(NodeId to, Bytes head, Bytes tail) override;
  void send_unrung(NodeId to, Bytes message) override;
  void ring(NodeId to, Sleepers whom) override;
  std::size_t poll(Receiver& receiver) override;
  void finish() override;
  bool pending() const override;
  std::uint64_t moves() const override;
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
  base::Result<> put_and_set(NodeId peer, RemoteAddress to, Bytes from, RemoteAddress word,
                             std::uint64_t value) override;
  base::Result<> fence() override;
  base::Result<> quiet(NodeId peer) override;
  base::Result<> quiet() override;

 private:
  MixedTransport(const Placement& placement, Parts parts);
  base::Result<> watch(PartTransport& part);
  bool is_near(NodeId node) const {
    return node.value < near_name_.size() && near_name_[node.value] != kNoNode;
  }

  // Of a peer on another host.
  PartTransport& part(NodeId peer) const {
    return *(is_routed_[peer.value] ? parts_.routed : parts_.far);
  }

  std::vector<NodeId> near_name_;   // by node: its name in the near part, or kNoNode
  std::vector<NodeId> near_nodes_;  // by name in the near part
  std::vector<bool> is_routed_;     // by node
  Parts parts_;
  std::vector<PartTransport*> beyond_;  // those of them for peers on other hosts
  SleepRoom room_;
  SpinLock delivering_;  // held by the thread that delivers; guards polls_
  std::uint32_t polls_ = 0;
};

}  // namespace terrane::transport::mixed
