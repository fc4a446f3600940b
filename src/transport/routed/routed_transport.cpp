#include "transport/routed/routed_transport.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "platform/wait.h"

namespace terrane::transport::routed {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
// How long a transport that is taken down waits for its peers to have what it had accepted.
constexpr std::uint64_t kFarewell_ns = 2000 * kMillisecond;
// How long the gateways may take to know a way to a peer.
constexpr std::uint64_t kPatience_ns = 20'000 * kMillisecond;
// A thread that only sleeps takes in no more than so much for a receiver.
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;
// A call is not divided here: gateways do so.
constexpr std::size_t kWhole = SIZE_MAX;
constexpr int kNap_ms = 1;
constexpr int kLongestNap_ms = 20;

routing::Address address_of(NodeId node) { return routing::Address::of_node(node.value); }

bool is_readable(int fd) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) > 0;
}

}  // namespace

std::vector<std::byte> encode_card(const std::vector<RoutedRegion>& regions) {
  auto bytes = std::as_bytes(std::span(regions));
  return {bytes.begin(), bytes.end()};
}

std::optional<std::vector<RoutedRegion>> decode_card(Bytes card) {
  if (card.size() % sizeof(RoutedRegion) != 0) return std::nullopt;
  std::vector<RoutedRegion> regions(card.size() / sizeof(RoutedRegion));
  if (!card.empty()) std::memcpy(regions.data(), card.data(), card.size());
  return regions;
}

// Gives what comes to its receiver, or keeps it where there is none.
class RoutedTransport::Incoming final : public End::Receiver {
 public:
  Incoming(RoutedTransport& transport, transport::Receiver* receiver)
      : transport_(transport), receiver_(receiver) {}

  void message(routing::Address from, std::uint16_t tag, routing::Bytes message) override {
    if (!from.is_node() || from.value >= transport_.regions_.size()) return;
    NodeId node{from.value};
    if (tag == kRequestTag) return transport_.calls_.serve(node, message);
    if (tag == kAnswerTag) {
      transport_.calls_.take_answer(node, message);
      return;
    }
    ++messages;
    if (receiver_ != nullptr) return receiver_->received(node, message);
    transport_.keep({node, {message.begin(), message.end()}, {}});
  }
  void lost(routing::Address peer, const std::string& why) override {
    if (!peer.is_node() || peer.value >= transport_.regions_.size()) return;
    NodeId node{peer.value};
    transport_.calls_.lose(node);
    if (receiver_ != nullptr) return receiver_->lost(node, why);
    transport_.keep({node, {}, why});
  }

  std::size_t messages = 0;

 private:
  RoutedTransport& transport_;
  transport::Receiver* receiver_;
};

RoutedTransport::RoutedTransport(Parts parts)
    : self_(parts.self),
      description_(std::move(parts.description)),
      own_regions_(std::move(parts.own_regions)),
      regions_(std::move(parts.regions)),
      bandwidths_(std::move(parts.bandwidths)),
      end_(std::move(parts.end)),
      calls_(*this, *this, self_, static_cast<std::uint32_t>(regions_.size()), kWhole) {}

base::Result<std::unique_ptr<RoutedTransport>> RoutedTransport::connect(Parts parts) {
  std::vector<NodeId> peers = parts.peers;
  std::unique_ptr<RoutedTransport> made(new RoutedTransport(std::move(parts)));
  if (auto created = SleepRoom::create(made->room_); !created) return created.error();
  if (auto watched = made->room_.watch(*made, made->end_->poll_fd()); !watched)
    return watched.error();
  if (auto met = made->wait_for(peers); !met) return met.error();
  return made;
}

base::Result<> RoutedTransport::wait_for(std::span<const NodeId> peers) {
  std::uint64_t start_ns = platform::now_ns();
  auto is_met = [&](NodeId peer) {
    return end_->reaches(address_of(peer)) || end_->is_lost(address_of(peer));
  };
  for (;;) {
    std::unique_lock taking(taking_);
    take_in(nullptr);
    taking.unlock();
    auto missing = std::find_if_not(peers.begin(), peers.end(), is_met);
    if (missing == peers.end()) return {};
    if (!end_->is_connected()) return base::error("{}: {}", description_, end_->why());
    if (platform::now_ns() - start_ns > kPatience_ns)
      return base::error("{}: no gateway leads to node {}", description_, missing->value);
    pollfd watched{.fd = end_->poll_fd(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, kLongestNap_ms);
  }
}

base::Result<> RoutedTransport::admit(NodeId node, Card card) {
  auto regions = decode_card(card.bytes);
  if (!regions) return base::error("routed: node {}'s card makes no sense", node.value);
  std::lock_guard taking(taking_);
  regions_[node.value] = std::move(*regions);
  return {};
}

base::Result<> RoutedTransport::meet(std::span<const NodeId> peers) { return wait_for(peers); }

RoutedTransport::~RoutedTransport() { finish(); }

void RoutedTransport::finish() {
  transport::Deaf deaf;
  std::lock_guard taking(taking_);
  if (std::exchange(has_finished_, true)) return;
  end_->bye();
  std::uint64_t deadline_ns = platform::now_ns() + kFarewell_ns;
  while (platform::now_ns() < deadline_ns) {
    take_in(&deaf);
    if (end_->is_idle() || !end_->is_connected()) return;
    pollfd watched{.fd = end_->poll_fd(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, kLongestNap_ms);
  }
}

void RoutedTransport::send(NodeId to, Bytes head, Bytes tail) {
  TERRANE_CHECK(to.value < regions_.size(), "a message goes to a node of the job");
  if (to != self_) return end_->send(address_of(to), kMessageTag, head, tail);
  to_self_.push({head, tail});
  if (!room_.is_attended()) room_.ring();
}

bool RoutedTransport::is_taking() const {
  return ::pthread_equal(taker_.load(std::memory_order_relaxed), ::pthread_self()) != 0;
}

std::size_t RoutedTransport::poll(Receiver& receiver) {
  if (is_taking() || !taking_.try_lock()) return 0;
  std::size_t messages = 0;
  {
    std::lock_guard taking(taking_, std::adopt_lock);
    taker_.store(::pthread_self(), std::memory_order_relaxed);
    if (has_kept()) messages += deliver_kept(receiver);
    messages += take_in(&receiver);
    if (!to_self_.empty()) messages += to_self_.deliver(self_, receiver);
    taker_.store({}, std::memory_order_relaxed);
  }
  room_.polled();
  return messages;
}

std::size_t RoutedTransport::take_in(Receiver* receiver) {
  Incoming incoming(*this, receiver);
  if (end_->take_in(incoming) != 0) moves_.fetch_add(1, std::memory_order_relaxed);
  return incoming.messages;
}

// Of a thread that sleeps: it serves others, and moves on what waits here. What comes for a
// receiver is kept, up to a limit.
bool RoutedTransport::look() {
  if (kept_bytes_.load() < kMostKeptBytes) {
    std::lock_guard taking(taking_);  // what comes is left to the thread that delivers now
    take_in(nullptr);
  }
  return has_kept() || !to_self_.empty();
}

void RoutedTransport::keep(Kept kept) {
  kept_bytes_.fetch_add(kept.message.size());
  kept_.push_back(std::move(kept));
  kept_count_.fetch_add(1);
}

std::size_t RoutedTransport::deliver_kept(Receiver& receiver) {
  std::size_t messages = 0;
  while (!kept_.empty()) {
    Kept kept = std::move(kept_.front());
    kept_.pop_front();
    kept_count_.fetch_sub(1);
    kept_bytes_.fetch_sub(kept.message.size());
    if (kept.lost.empty()) {
      ++messages;
      receiver.received(kept.from, kept.message);
    } else {
      receiver.lost(kept.from, kept.lost);
    }
  }
  return messages;
}

bool RoutedTransport::has_news() const {
  return has_kept() || !to_self_.empty() || is_readable(end_->poll_fd());
}

// While threads attend they poll: to ask the network here would cost as much as a poll.
bool RoutedTransport::pending() const { return room_.is_attended() || has_news(); }

void RoutedTransport::nap() {
  pollfd watched{.fd = end_->poll_fd(), .events = POLLIN, .revents = 0};
  ::poll(&watched, 1, kNap_ms);
}

}  // namespace terrane::transport::routed
