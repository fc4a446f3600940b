#include "transport/shm/shm_transport.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "platform/wait.h"

namespace terrane::transport::shm {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
// How often peers' deaths are looked for: by a polling thread (asking the clock each time would
// cost more than the poll), and by a sleeping one.
constexpr std::uint32_t kPollsPerLook = 64;
constexpr std::uint64_t kLookEvery_ns = 10 * kMillisecond;
constexpr std::uint64_t kLongestNap_ns = 20 * kMillisecond;
// How long a transport that is taken down goes on moving what it had accepted.
constexpr std::uint64_t kFarewell_ns = 2000 * kMillisecond;

}  // namespace

base::Result<std::unique_ptr<PartTransport>> ShmTransport::connect(NodeId self, Area own,
                                                                   std::vector<ShmCard> cards) {
  auto watch = PeerWatch::create(static_cast<std::uint32_t>(cards.size()));
  if (!watch) return watch.error();
  std::vector<Area> areas;
  for (std::uint32_t i = 0; i < cards.size(); ++i) {
    if (NodeId{i} == self) {
      areas.push_back(std::move(own));
      continue;
    }
    ShmCard& card = cards[i];
    auto area = Area::map(card.area.get(), card.shape);
    if (!area) return base::error("shm: node {}'s area: {}", i, area.error().message);
    card.area.reset();
    if (!area.value().belongs_to(card.pid, card.shape)) {
      return base::error("shm: node {}'s memory does not fit its card", i);
    }
    area.value().hang(std::move(card.bell));
    areas.push_back(std::move(area).value());
    if (card.pid_namespace != cards[self.value].pid_namespace) continue;
    if (auto added = watch.value().add(NodeId{i}, card.pid); !added) return added.error();
  }
  if (watch.value().denied() != 0 && self.value == 0)
    base::log(
        "pidfd_open: {}: nodes of this host learn of each other's end from the launcher alone; in "
        "a container allow the system call (docker run --security-opt seccomp=unconfined)",
        std::strerror(watch.value().denied()));
  return std::unique_ptr<PartTransport>(
      new ShmTransport(self, std::move(areas), std::move(cards), std::move(watch).value()));
}

ShmTransport::ShmTransport(NodeId self, std::vector<Area> areas, std::vector<ShmCard> cards,
                           PeerWatch watch)
    : self_(self),
      areas_(std::move(areas)),
      control_(areas_[self.value].control()),
      regions_(static_cast<std::uint32_t>(areas_.size())),
      outbox_(static_cast<std::uint32_t>(areas_.size())),
      inbox_(areas_[self.value], static_cast<std::uint32_t>(areas_.size())),
      watch_(std::move(watch)),
      lost_(areas_.size()) {
  for (std::uint32_t i = 0; i < areas_.size(); ++i) {
    outbox_.add(areas_[i].ring(self_), areas_[i].doorbell(), self_);
    inbox_.add(areas_[self_.value].ring(NodeId{i}), areas_[i].doorbell());
    for (ShmCard::Region& region : cards[i].regions) {
      regions_.add(NodeId{i}, std::move(region.fd), region.bytes, region.base);
    }
  }
}

ShmTransport::~ShmTransport() { finish(); }

// What peers send is taken out, too: they may wait for room while they finish, as we do.
void ShmTransport::finish() {
  Deaf deaf;
  std::uint64_t deadline_ns = platform::now_ns() + kFarewell_ns;
  while (outbox_.has_backlog() && platform::now_ns() < deadline_ns) {
    poll(deaf);
    if (outbox_.has_backlog()) sleep_once(control_.sleeping, kLongestNap_ns);
  }
}

std::size_t ShmTransport::poll(Receiver& receiver) {
  if (!turn_.try_begin()) return 0;
  std::size_t messages = 0;
  do {
    messages += inbox_.deliver(receiver);
    if (outbox_.has_backlog()) outbox_.advance();
    messages += look_after_peers(receiver);
  } while (!turn_.end());
  return messages;
}

std::size_t ShmTransport::look_after_peers(Receiver& receiver) {
  if (inbox_.has_broken()) {
    for (NodeId peer : inbox_.take_broken()) lose(peer, receiver, "it sent a malformed frame");
  }
  if (++polls_ % kPollsPerLook == 0) {
    std::uint64_t now_ns = platform::now_ns();
    if (now_ns - looked_at_ns_ >= kLookEvery_ns) {
      looked_at_ns_ = now_ns;
      if (watch_.news()) news_.store(true);
    }
  }
  return news_.load(std::memory_order_relaxed) ? report_ended(receiver) : 0;
}

std::size_t ShmTransport::report_ended(Receiver& receiver) {
  news_.store(false);
  std::size_t messages = 0;
  while (auto peer = watch_.take()) {
    messages += inbox_.deliver_last(*peer, receiver);
    lose(*peer, receiver, fmt::format("its process (pid {}) has ended", watch_.pid_of(*peer)));
  }
  return messages;
}

void ShmTransport::lose(NodeId peer, Receiver& receiver, std::string_view why) {
  if (lost_[peer.value]) return;
  lost_[peer.value] = true;
  outbox_.drop(peer);
  receiver.lost(peer, why);
}

bool ShmTransport::pending() const {
  return inbox_.pending() || news_.load(std::memory_order_relaxed) || outbox_.can_advance();
}

// For a thread that would poll, and sleep otherwise.
bool ShmTransport::has_news() { return pending() && !turn_.leave_to_deliverer(); }

void ShmTransport::sleep_as(std::atomic<std::uint32_t>& sleeping, std::uint64_t timeout_ns) {
  std::uint64_t start_ns = platform::now_ns();
  std::uint64_t slept_ns = 0;
  while (!sleep_once(sleeping, timeout_ns - slept_ns)) {
    slept_ns = platform::now_ns() - start_ns;
    if (slept_ns >= timeout_ns) return;
  }
}

// True when there was a reason to wake.
bool ShmTransport::sleep_once(std::atomic<std::uint32_t>& sleeping, std::uint64_t timeout_ns) {
  outbox_.advance();
  // Tell senders and receivers first, look afterwards: whatever comes after the look finds the bell
  // wanted.
  std::uint32_t seen = control_.bell.load();
  sleeping.store(static_cast<std::uint32_t>(Sleeping::kOnBell));
  outbox_.want_space();
  if (interrupts_.take() || (control_.attending.load() == 0 && has_news())) return true;
  std::uint64_t nap_ns = std::min(timeout_ns, kLongestNap_ns);
  if (nap_ns != 0) platform::futex_wait(control_.bell, seen, nap_ns);
  bool interrupted = interrupts_.take();
  outbox_.advance();
  if (watch_.news()) news_.store(true);
  return interrupted || has_news() || control_.bell.load() != seen;
}

std::vector<int> ShmTransport::news_fds() const {
  return {areas_[self_.value].doorbell().fd, watch_.fd()};
}

bool ShmTransport::look() {
  std::uint64_t rings = 0;
  [[maybe_unused]] ssize_t got = ::read(areas_[self_.value].doorbell().fd, &rings, sizeof rings);
  outbox_.advance();
  if (watch_.news()) news_.store(true);
  return has_news();
}

// Tell senders and receivers first, look afterwards, as in sleep_once().
bool ShmTransport::arm() {
  control_.sleeping.store(static_cast<std::uint32_t>(Sleeping::kOnDescriptor));
  outbox_.want_space();
  return !has_news();
}

void ShmTransport::interrupt() {
  interrupts_.interrupt();
  control_.bell.fetch_add(1);
  platform::futex_wake_all(control_.bell);
}

}  // namespace terrane::transport::shm
