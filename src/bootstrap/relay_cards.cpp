// The part of the relay that exchanges the nodes' cards.

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

#include "bootstrap/relay.h"

namespace terrane::bootstrap {

bool Relay::all_wait() const {
  return std::all_of(here_.begin(), here_.end(),
                     [this](std::uint32_t node) { return seats_[node].incoming.complete(); });
}

void Relay::add_foreign(NodeId node, std::vector<std::byte> bytes) {
  foreign_.resize(seats_.size());
  foreign_[node.value] = std::move(bytes);
}

// The cards of the exchange before have all been read by now, for nobody sends a new card earlier.
void Relay::send_cards() {
  relayed_.clear();
  relayed_.resize(seats_.size());
  relayed_fds_.assign(seats_.size(), {});
  for (std::size_t node = 0; node < foreign_.size(); ++node) {
    relayed_[node].bytes = std::move(foreign_[node]);
  }
  foreign_.clear();
  for (std::uint32_t node : here_) {
    relayed_[node] = std::move(seats_[node].incoming);
    seats_[node].incoming = Card();
    for (const base::UniqueFd& fd : relayed_[node].fds) relayed_fds_[node].push_back(fd.get());
  }
  for (std::uint32_t node : here_) {
    Seat& seat = seats_[node];
    seat.outgoing.clear();
    seat.sent = 0;
    for (std::uint32_t other = 0; other < seats_.size(); ++other) {
      if (other != node) {
        seat.outgoing.emplace_back(other, relayed_[other].bytes, relayed_fds_[other]);
      }
    }
  }
  // Only now: the last one to be served lets go of the cards.
  for (std::uint32_t node : here_) send_some(node);
}

void Relay::send_some(std::uint32_t node) {
  Seat& seat = seats_[node];
  if (!seat.channel) return;
  PacketStatus status = PacketStatus::kDone;
  while (seat.sent < seat.outgoing.size()) {
    status = seat.outgoing[seat.sent].send(seat.channel.get(), MSG_DONTWAIT);
    if (status != PacketStatus::kDone) break;
    ++seat.sent;
  }
  if (status == PacketStatus::kTooManyFlying) must_retry_ = true;
  set_wants_room(node, status == PacketStatus::kAgain);
  if (!seat.outgoing.empty() && seat.sent == seat.outgoing.size()) {
    seat.outgoing.clear();
    seat.its_news.reset();
    seat.sent = 0;
    bool everyone = std::all_of(here_.begin(), here_.end(), [this](std::uint32_t other) {
      return seats_[other].outgoing.empty();
    });
    if (everyone) relayed_.clear();
  }
}

void Relay::set_wants_room(std::uint32_t node, bool wants_room) {
  Seat& seat = seats_[node];
  if (wants_room == seat.wants_room) return;
  seat.wants_room = wants_room;
  watch(seat.channel.get(), node, true, wants_room ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
}

void Relay::fail_exchange(std::string_view sentence) {
  for (std::uint32_t node : here_) {
    Seat& seat = seats_[node];
    bool waits = seat.channel && seat.place.presence == Place::Presence::kJoined;
    if (waits)
      send_text(seat.channel.get(), {.kind = MessageKind::kMissing}, sentence, MSG_DONTWAIT);
  }
}

}  // namespace terrane::bootstrap
