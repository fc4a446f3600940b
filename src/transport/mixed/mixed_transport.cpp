#include "transport/mixed/mixed_transport.h"

#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "base/check.h"

namespace terrane::transport::mixed {
namespace {

// While a thread polls on and on, the network is asked so often: a look at it is a system call, and
// one at shared memory a few loads.
constexpr std::uint32_t kPollsPerLook = 8;

// Gives the near transport's nodes the names that the job knows.
class Renamed final : public Receiver {
 public:
  Renamed(Receiver& receiver, const std::vector<NodeId>& names)
      : receiver_(receiver), names_(names) {}
  void received(NodeId from, Bytes message) override {
    receiver_.received(names_[from.value], message);
  }
  void lost(NodeId peer, std::string_view why) override { receiver_.lost(names_[peer.value], why); }

 private:
  Receiver& receiver_;
  const std::vector<NodeId>& names_;
};

}  // namespace

base::Result<std::unique_ptr<Transport>> MixedTransport::join(const Placement& placement,
                                                              std::unique_ptr<PartTransport> near,
                                                              std::unique_ptr<PartTransport> far) {
  std::unique_ptr<MixedTransport> joined(
      new MixedTransport(placement, std::move(near), std::move(far)));
  if (auto created = SleepRoom::create(joined->room_); !created) return created.error();
  for (PartTransport* part : {joined->near_.get(), joined->far_.get()}) {
    part->sleep_in(joined->room_);
    if (auto watched = joined->watch(*part); !watched) return watched.error();
  }
  return std::unique_ptr<Transport>(std::move(joined));
}

MixedTransport::MixedTransport(const Placement& placement, std::unique_ptr<PartTransport> near,
                               std::unique_ptr<PartTransport> far)
    : near_name_(placement.nodes, kNoNode), near_(std::move(near)), far_(std::move(far)) {
  for (std::uint32_t node = 0; node < placement.nodes; ++node) {
    if (!placement.same_host(NodeId{node}, placement.self)) continue;
    near_name_[node] = NodeId{static_cast<std::uint32_t>(near_nodes_.size())};
    near_nodes_.push_back(NodeId{node});
  }
}

base::Result<> MixedTransport::watch(PartTransport& part) {
  for (int fd : part.news_fds()) {
    if (auto watched = room_.watch(part, fd); !watched) return watched;
  }
  return {};
}

std::string MixedTransport::describe() const {
  return fmt::format("{} within the host, {}", near_->describe(), far_->describe());
}

base::Result<> MixedTransport::admit(NodeId node, Card card) {
  std::uint32_t near_bytes = 0;
  bool whole = card.bytes.size() >= sizeof near_bytes && !is_near(node);
  if (whole) std::memcpy(&near_bytes, card.bytes.data(), sizeof near_bytes);
  whole = whole && near_bytes <= card.bytes.size() - sizeof near_bytes;
  if (!whole) return base::error("mixed: node {}'s card makes no sense", node.value);
  auto from = card.bytes.begin() + static_cast<std::ptrdiff_t>(sizeof near_bytes + near_bytes);
  return far_->admit(node, {{from, card.bytes.end()}, {}});
}

base::Result<> MixedTransport::meet(std::span<const NodeId> peers) {
  std::vector<NodeId> far;
  for (NodeId peer : peers)
    if (!is_near(peer)) far.push_back(peer);
  return far_->meet(far);
}

void MixedTransport::send(NodeId to, Bytes head, Bytes tail) {
  TERRANE_CHECK(to.value < near_name_.size(), "a message goes to a node of the job");
  if (is_near(to)) {
    near_->send(near_name_[to.value], head, tail);
  } else {
    far_->send(to, head, tail);
  }
}

void MixedTransport::send_unrung(NodeId to, Bytes message) {
  TERRANE_CHECK(to.value < near_name_.size(), "a message goes to a node of the job");
  if (is_near(to)) {
    near_->send_unrung(near_name_[to.value], message);
  } else {
    far_->send(to, message, {});
  }
}

void MixedTransport::ring(NodeId to, Sleepers whom) {
  if (is_near(to)) near_->ring(near_name_[to.value], whom);
}

std::size_t MixedTransport::poll(Receiver& receiver) {
  if (!delivering_.try_lock()) return 0;
  std::size_t messages = 0;
  {
    std::lock_guard delivering(delivering_, std::adopt_lock);
    Renamed renamed(receiver, near_nodes_);
    messages = near_->poll(renamed);
    if (!room_.is_attended() || ++polls_ % kPollsPerLook == 0) messages += far_->poll(receiver);
  }
  room_.polled();
  return messages;
}

bool MixedTransport::pending() const { return near_->pending() || far_->pending(); }

void MixedTransport::attend() {
  far_->attend();
  room_.attend();
}

bool MixedTransport::unattend() {
  bool look = room_.unattend();
  far_->unattend();  // nobody sleeps in the far one's own room
  return look;
}

std::byte* MixedTransport::reach(NodeId peer, std::uint32_t region) {
  return is_near(peer) ? near_->reach(near_name_[peer.value], region) : nullptr;
}

std::uint64_t MixedTransport::region_bytes(NodeId peer, std::uint32_t region) const {
  if (is_near(peer)) return near_->region_bytes(near_name_[peer.value], region);
  return far_->region_bytes(peer, region);
}

base::Result<> MixedTransport::put(NodeId peer, RemoteAddress to, Bytes from) {
  if (is_near(peer)) return Transport::put(peer, to, from);
  return far_->put(peer, to, from);
}

base::Result<> MixedTransport::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (is_near(peer)) return Transport::get(peer, from, into);
  return far_->get(peer, from, into);
}

base::Result<> MixedTransport::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  if (is_near(peer)) return Transport::put_nbi(peer, to, from);
  return far_->put_nbi(peer, to, from);
}

base::Result<> MixedTransport::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (is_near(peer)) return Transport::get_nbi(peer, from, into);
  return far_->get_nbi(peer, from, into);
}

base::Result<std::uint64_t> MixedTransport::atomic_fetch(NodeId peer, RemoteAddress word,
                                                         const Atomic& atomic) {
  if (is_near(peer)) return Transport::atomic_fetch(peer, word, atomic);
  return far_->atomic_fetch(peer, word, atomic);
}

base::Result<> MixedTransport::atomic_fetch_nbi(NodeId peer, RemoteAddress word,
                                                const Atomic& atomic, std::byte* into) {
  if (is_near(peer)) return Transport::atomic_fetch_nbi(peer, word, atomic, into);
  return far_->atomic_fetch_nbi(peer, word, atomic, into);
}

base::Result<> MixedTransport::atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (is_near(peer)) return Transport::atomic_post(peer, word, atomic);
  return far_->atomic_post(peer, word, atomic);
}

base::Result<> MixedTransport::fence() {
  if (auto fenced = Transport::fence(); !fenced) return fenced;
  return far_->fence();
}

base::Result<> MixedTransport::quiet(NodeId peer) {
  if (is_near(peer)) return Transport::quiet(peer);
  return far_->quiet(peer);
}

base::Result<> MixedTransport::quiet() {
  if (auto done = Transport::quiet(); !done) return done;
  return far_->quiet();
}

}  // namespace terrane::transport::mixed
