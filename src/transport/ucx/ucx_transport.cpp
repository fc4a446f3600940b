#include "transport/ucx/ucx_transport.h"

#include <poll.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "platform/wait.h"

namespace terrane::transport::ucx {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
// How long a transport that is taken down waits for its peers to have what it had accepted.
constexpr std::uint64_t kFarewell_ns = 2000 * kMillisecond;
// How long a peer may take to greet us.
constexpr std::uint64_t kPatience_ns = 20'000 * kMillisecond;
// After so long without an event no answer of UCX's to a node that joins is on its way.
constexpr std::uint64_t kQuiet_ns = 20 * kMillisecond;
constexpr std::uint64_t kClosing_ns = 200 * kMillisecond;
constexpr int kLongestNap_ms = 20;
// So much of a call is one message, which sockets take at once (outbox.cpp).
constexpr std::size_t kPiece = std::size_t{64} << 10;
// A thread that only sleeps takes in no more than so much for a receiver.
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;

bool is_readable(int fd) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) > 0;
}

}  // namespace

base::Result<std::unique_ptr<UcxTransport>> UcxTransport::connect(
    Parts parts, std::vector<UcxCard> cards, const std::vector<NodeId>& peers) {
  auto nodes = static_cast<std::uint32_t>(cards.size());
  std::vector<std::vector<UcxCard::Region>> regions(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    regions[node] = std::move(cards[node].regions);
  }
  bool joins = parts.joins;
  std::unique_ptr<UcxTransport> made(new UcxTransport(std::move(parts), std::move(regions)));
  if (auto created = SleepRoom::create(made->room_); !created) return created.error();
  if (auto watched = made->room_.watch(*made, made->worker_->event_fd()); !watched)
    return watched.error();
  made->worker_->enter();
  auto met = made->inbox_.listen();
  if (met) met = made->calls_in_.listen();
  for (NodeId peer : peers) {
    made->worker_->know(cards[peer.value].door);
    made->outbox_.add(peer, std::move(cards[peer.value].address), cards[peer.value].token);
  }
  if (met && !joins) met = made->wait_for(peers);
  made->worker_->leave();
  if (!met) return met.error();
  return made;
}

// Of two nodes one connects, and the other uses the same connection; nobody goes on before UCX is
// done with that. UCX 1.13 may abort when a process ends while connections to it are being made, or
// when both sides make one.
base::Result<> UcxTransport::wait_for(std::span<const NodeId> peers) {
  for (NodeId peer : peers) {
    if (peer.value > self_.value) greet(peer);
  }
  auto unmet = [&](NodeId peer) { return outbox_.is_open(peer) && !inbox_.has_heard(peer); };
  std::uint64_t start_ns = platform::now_ns();
  for (;;) {
    progress();
    auto missing = std::find_if(peers.begin(), peers.end(), unmet);
    if (missing == peers.end()) return {};
    std::uint64_t waited_ns = platform::now_ns() - start_ns;
    if (waited_ns > kPatience_ns) {
      return base::error("{}: node {} does not answer", description_, missing->value);
    }
    // A peer that should have greeted us is perhaps gone: we try to connect, and hear.
    if (waited_ns > kPatience_ns / 2) outbox_.connect(*missing);
    wait_for_events();
  }
}

base::Result<> UcxTransport::meet(std::span<const NodeId> peers) {
  worker_->enter();
  auto met = wait_for(peers);
  outbox_.leave_worker();
  return met;
}

base::Result<> UcxTransport::admit(NodeId node, Card card) {
  auto decoded = UcxCard::decode(card);
  if (!decoded) return base::error("ucx: node {}'s card: {}", node.value, decoded.error().message);
  worker_->enter();
  worker_->know(decoded.value().door);
  outbox_.add(node, std::move(decoded.value().address), decoded.value().token);
  admitted_.push_back(node);
  if (node.value > self_.value) greet(node);
  outbox_.leave_worker();
  sleepers_room_->ring();  // a sleeping thread helps it on
  return {};
}

void UcxTransport::greet(NodeId peer) {
  outbox_.connect(peer);
  outbox_.send_notice(peer, wire::NetworkFrameKind::kHello);
}

UcxTransport::UcxTransport(Parts parts, std::vector<std::vector<UcxCard::Region>> regions)
    : self_(parts.self),
      description_(std::move(parts.description)),
      sockets_alone_(parts.sockets_alone),
      joins_(parts.joins),
      bandwidth_(parts.bandwidth),
      worker_(std::move(parts.worker)),
      outbox_(*worker_, pool_, self_, static_cast<std::uint32_t>(regions.size()), sockets_alone_),
      inbox_(*worker_, pool_, parts.token, self_, static_cast<std::uint32_t>(regions.size())),
      calls_in_(*worker_, pool_, parts.token, self_, static_cast<std::uint32_t>(regions.size()),
                Traffic::kCalls),
      own_regions_(std::move(parts.own_regions)),
      lost_(regions.size()),
      memory_(*worker_, outbox_, std::move(regions)),
      calls_(*this, *this, self_, static_cast<std::uint32_t>(lost_.size()), kPiece) {
  calls_in_.receive_by(&call_receiver_);
}

UcxTransport::~UcxTransport() {
  finish();
  worker_->enter();
  close_all();
  memory_.release_keys();
  worker_->leave();
  // What UCX has not finished it cancels now, by callbacks to the boxes.
  worker_.reset();
}

void UcxTransport::send(NodeId to, Bytes head, Bytes tail) {
  TERRANE_CHECK(to.value < lost_.size(), "a message goes to a node of the job");
  if (to != self_) return outbox_.send(to, head, tail);
  to_self_.push({head, tail});
  if (!room_.is_attended()) room_.ring();
}

std::size_t UcxTransport::poll(Receiver& receiver) {
  if (worker_->inside() || !worker_->try_enter()) return 0;
  inbox_.receive_by(&receiver);
  if (inbox_.has_deliverable()) inbox_.deliver();
  progress();
  look_after_peers(receiver);
  std::size_t messages = inbox_.take_delivered();
  if (!to_self_.empty()) messages += to_self_.deliver(self_, receiver);
  inbox_.receive_by(nullptr);
  outbox_.leave_worker();
  room_.polled();
  return messages;
}

bool UcxTransport::progress() {
  bool moved = worker_->progress() != 0;
  if (moved) moves_.fetch_add(1, std::memory_order_relaxed);
  if (outbox_.has_queued()) outbox_.advance();
  if (inbox_.has_notices()) answer_notices();
  return moved;
}

void UcxTransport::answer_notices() {
  for (NodeId peer : inbox_.take_newcomers()) {
    if (peer.value < self_.value) greet(peer);
  }
  for (NodeId peer : inbox_.take_farewells()) {
    outbox_.send_notice(peer, wire::NetworkFrameKind::kFarewellHeard);
  }
}

void UcxTransport::look_after_peers(Receiver& receiver) {
  for (Inbox* inbox : {&inbox_, &calls_in_}) {
    if (!inbox->has_broken()) continue;
    for (NodeId peer : inbox->take_broken()) lose(peer, receiver, "it sent a malformed frame");
  }
  if (!outbox_.has_failures()) return;
  for (const Outbox::Failure& failure : outbox_.take_failures()) {
    // UCX says so of every TCP connection that ends (1.13; findings/ucx_end_is_timeout.sh).
    bool any = failure.status == UCS_ERR_ENDPOINT_TIMEOUT;
    const char* why =
        any ? "its process has ended, or the network fails" : worker_->text_of(failure.status);
    lose(failure.peer, receiver, fmt::format("its connection broke ({})", why));
  }
}

void UcxTransport::lose(NodeId peer, Receiver& receiver, std::string_view why) {
  if (lost_[peer.value]) return;
  lost_[peer.value] = true;
  inbox_.close(peer);
  calls_in_.close(peer);
  outbox_.drop(peer);
  outbox_.close(peer);
  calls_.lose(peer);
  receiver.lost(peer, why);
}

// While threads attend they poll: to ask the network here would cost as much as a poll.
bool UcxTransport::pending() const {
  if (inbox_.has_deliverable() || outbox_.has_failures() || !to_self_.empty()) return true;
  if (room_.is_attended()) return true;
  if (!is_readable(worker_->event_fd())) return false;
  // UCX's own signals to itself are taken back by arming.
  if (!worker_->try_enter()) return true;
  worker_->arm();
  outbox_.leave_worker();
  return true;
}

bool UcxTransport::look() {
  worker_->enter();
  bool waits = inbox_.has_deliverable();
  // What is still coming counts as kept, and comes by progress alone: the limit is for those who
  // leave messages that are here.
  bool more = outbox_.is_busy() && inbox_.kept_bytes() < kMostKeptBytes;
  if (!waits || more) progress();
  bool news = has_news();
  outbox_.leave_worker();
  return news || !to_self_.empty();
}

bool UcxTransport::arm() {
  worker_->enter();
  bool armed = worker_->arm();
  outbox_.leave_worker();
  return armed;
}

std::byte* UcxTransport::reach(NodeId peer, std::uint32_t region) {
  return peer == self_ ? own_regions_->reach(NodeId{0}, region) : nullptr;
}

// Every peer that we sent to has all of it, or is gone.
bool UcxTransport::is_heard() const {
  for (std::uint32_t node = 0; node < lost_.size(); ++node) {
    NodeId peer{node};
    if (outbox_.is_open(peer) && outbox_.has_sent(peer) && !inbox_.farewell_heard(peer)) {
      return false;
    }
  }
  return true;
}

bool UcxTransport::has_met_newcomers() const {
  return std::ranges::all_of(
      admitted_, [&](NodeId peer) { return !outbox_.is_open(peer) || inbox_.has_heard(peer); });
}

void UcxTransport::finish() {
  Deaf deaf;
  worker_->enter();
  if (std::exchange(has_finished_, true)) return outbox_.leave_worker();
  std::uint64_t deadline_ns = platform::now_ns() + kFarewell_ns;
  inbox_.receive_by(&deaf);
  if (inbox_.has_deliverable()) inbox_.deliver();
  // A node that joins may be connecting to us: see wait_for().
  auto progress_until = [&](auto done) {
    while (!done() && platform::now_ns() < deadline_ns) {
      progress();
      look_after_peers(deaf);
      if (!done()) wait_for_events();
    }
  };
  progress_until([&] { return has_met_newcomers(); });
  for (std::uint32_t node = 0; node < lost_.size(); ++node) {
    if (outbox_.has_sent(NodeId{node}) || outbox_.has_queued(NodeId{node})) {
      outbox_.send_notice(NodeId{node}, wire::NetworkFrameKind::kFarewell);
    }
  }
  progress_until([&] { return is_heard() && !outbox_.is_busy(); });
  // One that joins may have connected to us before we heard of it.
  std::uint64_t quiet_since_ns = platform::now_ns();
  while ((joins_ || !admitted_.empty()) && platform::now_ns() - quiet_since_ns < kQuiet_ns) {
    if (progress()) quiet_since_ns = platform::now_ns();
    if (platform::now_ns() > deadline_ns) break;
    wait_for_events();
  }
  inbox_.receive_by(nullptr);
  outbox_.leave_worker();
}

void UcxTransport::wait_for_events() {
  if (!worker_->arm()) return;
  pollfd watched{.fd = worker_->event_fd(), .events = POLLIN, .revents = 0};
  ::poll(&watched, 1, kLongestNap_ms);
}

void UcxTransport::close_all() {
  for (std::uint32_t node = 0; node < lost_.size(); ++node) {
    inbox_.close(NodeId{node});
    calls_in_.close(NodeId{node});
    calls_.lose(NodeId{node});
    outbox_.drop(NodeId{node});
    outbox_.close(NodeId{node});
  }
  std::uint64_t deadline_ns = platform::now_ns() + kClosing_ns;
  while (outbox_.closing() != 0 && platform::now_ns() < deadline_ns) {
    if (worker_->progress() == 0) wait_for_events();
  }
}

}  // namespace terrane::transport::ucx
