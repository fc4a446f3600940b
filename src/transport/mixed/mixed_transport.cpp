#include "transport/mixed/mixed_transport.h"

#include <fmt/format.h>

#include <algorithm>
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

std::vector<std::byte> join_card(const SplitCard& parts) {
  std::vector<std::byte> card;
  for (Bytes part : {parts.near, parts.far, parts.routed}) {
    auto bytes = static_cast<std::uint32_t>(part.size());
    auto length = std::as_bytes(std::span(&bytes, 1));
    card.insert(card.end(), length.begin(), length.end());
    card.insert(card.end(), part.begin(), part.end());
  }
  return card;
}

std::optional<SplitCard> split_card(Bytes card) {
  SplitCard split;
  for (Bytes* part : {&split.near, &split.far, &split.routed}) {
    std::uint32_t bytes = 0;
    if (card.size() < sizeof bytes) return std::nullopt;
    std::memcpy(&bytes, card.data(), sizeof bytes);
    card = card.subspan(sizeof bytes);
    if (card.size() < bytes) return std::nullopt;
    *part = card.first(bytes);
    card = card.subspan(bytes);
  }
  return card.empty() ? std::optional(split) : std::nullopt;
}

base::Result<std::unique_ptr<Transport>> MixedTransport::join(const Placement& placement,
                                                              Parts parts) {
  std::unique_ptr<MixedTransport> joined(new MixedTransport(placement, std::move(parts)));
  if (auto created = SleepRoom::create(joined->room_); !created) return created.error();
  std::vector<PartTransport*> all = joined->beyond_;
  all.insert(all.begin(), joined->parts_.near.get());
  for (PartTransport* part : all) {
    part->sleep_in(joined->room_);
    if (auto watched = joined->watch(*part); !watched) return watched.error();
  }
  return std::unique_ptr<Transport>(std::move(joined));
}

MixedTransport::MixedTransport(const Placement& placement, Parts parts)
    : near_name_(placement.nodes, kNoNode), is_routed_(placement.nodes), parts_(std::move(parts)) {
  for (std::uint32_t node = 0; node < placement.nodes; ++node) {
    is_routed_[node] = parts_.routed && !placement.same_cluster(NodeId{node}, placement.self);
    if (!placement.same_host(NodeId{node}, placement.self)) continue;
    near_name_[node] = NodeId{static_cast<std::uint32_t>(near_nodes_.size())};
    near_nodes_.push_back(NodeId{node});
  }
  for (PartTransport* part : {parts_.far.get(), parts_.routed.get()})
    if (part != nullptr) beyond_.push_back(part);
}

base::Result<> MixedTransport::watch(PartTransport& part) {
  for (int fd : part.news_fds()) {
    if (auto watched = room_.watch(part, fd); !watched) return watched;
  }
  return {};
}

std::string MixedTransport::describe() const {
  std::string text = parts_.near->describe() + " within the host";
  for (const PartTransport* part : beyond_) text += ", " + part->describe();
  return text;
}

base::Result<> MixedTransport::admit(NodeId node, Card card) {
  auto split = split_card(card.bytes);
  if (!split || is_near(node))
    return base::error("mixed: node {}'s card makes no sense", node.value);
  auto bytes = is_routed_[node.value] ? split->routed : split->far;
  return part(node).admit(node, {{bytes.begin(), bytes.end()}, {}});
}

base::Result<> MixedTransport::meet(std::span<const NodeId> peers) {
  for (PartTransport* one : beyond_) {
    std::vector<NodeId> met;
    for (NodeId peer : peers)
      if (!is_near(peer) && &part(peer) == one) met.push_back(peer);
    if (auto done = one->meet(met); !done) return done;
  }
  return {};
}

void MixedTransport::send(NodeId to, Bytes head, Bytes tail) {
  TERRANE_CHECK(to.value < near_name_.size(), "a message goes to a node of the job");
  if (is_near(to)) {
    parts_.near->send(near_name_[to.value], head, tail);
  } else {
    part(to).send(to, head, tail);
  }
}

void MixedTransport::send_unrung(NodeId to, Bytes message) {
  TERRANE_CHECK(to.value < near_name_.size(), "a message goes to a node of the job");
  if (is_near(to)) {
    parts_.near->send_unrung(near_name_[to.value], message);
  } else {
    part(to).send(to, message, {});
  }
}

void MixedTransport::ring(NodeId to, Sleepers whom) {
  if (is_near(to)) parts_.near->ring(near_name_[to.value], whom);
}

std::size_t MixedTransport::poll(Receiver& receiver) {
  if (!delivering_.try_lock()) return 0;
  std::size_t messages = 0;
  {
    std::lock_guard delivering(delivering_, std::adopt_lock);
    Renamed renamed(receiver, near_nodes_);
    messages = parts_.near->poll(renamed);
    if (!room_.is_attended() || ++polls_ % kPollsPerLook == 0)
      for (PartTransport* part : beyond_) messages += part->poll(receiver);
  }
  room_.polled();
  return messages;
}

void MixedTransport::finish() {
  parts_.near->finish();
  for (PartTransport* part : beyond_) part->finish();
}

bool MixedTransport::pending() const {
  auto is_pending = [](const PartTransport* part) { return part->pending(); };
  return parts_.near->pending() || std::any_of(beyond_.begin(), beyond_.end(), is_pending);
}

std::uint64_t MixedTransport::moves() const {
  std::uint64_t moves = 0;
  for (const PartTransport* part : beyond_) moves += part->moves();
  return moves;
}

void MixedTransport::attend() {
  for (PartTransport* part : beyond_) part->attend();
  room_.attend();
}

bool MixedTransport::unattend() {
  bool look = room_.unattend();
  for (PartTransport* part : beyond_) part->unattend();  // nobody sleeps in their own rooms
  return look;
}

std::byte* MixedTransport::reach(NodeId peer, std::uint32_t region) {
  return is_near(peer) ? parts_.near->reach(near_name_[peer.value], region) : nullptr;
}

std::uint64_t MixedTransport::region_bytes(NodeId peer, std::uint32_t region) const {
  if (is_near(peer)) return parts_.near->region_bytes(near_name_[peer.value], region);
  return part(peer).region_bytes(peer, region);
}

base::Result<> MixedTransport::put(NodeId peer, RemoteAddress to, Bytes from) {
  if (is_near(peer)) return Transport::put(peer, to, from);
  return part(peer).put(peer, to, from);
}

base::Result<> MixedTransport::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (is_near(peer)) return Transport::get(peer, from, into);
  return part(peer).get(peer, from, into);
}

base::Result<> MixedTransport::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  if (is_near(peer)) return Transport::put_nbi(peer, to, from);
  return part(peer).put_nbi(peer, to, from);
}

base::Result<> MixedTransport::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (is_near(peer)) return Transport::get_nbi(peer, from, into);
  return part(peer).get_nbi(peer, from, into);
}

base::Result<std::uint64_t> MixedTransport::atomic_fetch(NodeId peer, RemoteAddress word,
                                                         const Atomic& atomic) {
  if (is_near(peer)) return Transport::atomic_fetch(peer, word, atomic);
  return part(peer).atomic_fetch(peer, word, atomic);
}

base::Result<> MixedTransport::atomic_fetch_nbi(NodeId peer, RemoteAddress word,
                                                const Atomic& atomic, std::byte* into) {
  if (is_near(peer)) return Transport::atomic_fetch_nbi(peer, word, atomic, into);
  return part(peer).atomic_fetch_nbi(peer, word, atomic, into);
}

base::Result<> MixedTransport::atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (is_near(peer)) return Transport::atomic_post(peer, word, atomic);
  return part(peer).atomic_post(peer, word, atomic);
}

base::Result<> MixedTransport::put_and_set(NodeId peer, RemoteAddress to, Bytes from,
                                           RemoteAddress word, std::uint64_t value) {
  if (is_near(peer)) return Transport::put_and_set(peer, to, from, word, value);
  return part(peer).put_and_set(peer, to, from, word, value);
}

base::Result<> MixedTransport::fence() {
  if (auto fenced = Transport::fence(); !fenced) return fenced;
  for (PartTransport* part : beyond_)
    if (auto fenced = part->fence(); !fenced) return fenced;
  return {};
}

base::Result<> MixedTransport::quiet(NodeId peer) {
  if (is_near(peer)) return Transport::quiet(peer);
  return part(peer).quiet(peer);
}

base::Result<> MixedTransport::quiet() {
  if (auto done = Transport::quiet(); !done) return done;
  base::Result<> all;
  for (PartTransport* part : beyond_)
    if (auto done = part->quiet(); !done && all) all = done;
  return all;
}

}  // namespace terrane::transport::mixed
