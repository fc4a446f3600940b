// The part of the relay that tells nodes what becomes of others.

#include <sys/socket.h>

#include "bootstrap/relay.h"

namespace terrane::bootstrap {

void Relay::tell_death(NodeId dead, std::string_view why) {
  tell_news({.kind = MessageKind::kDeath, .node = dead.value}, why);
}

void Relay::tell_gone(NodeId gone) {
  tell_news({.kind = MessageKind::kGone, .node = gone.value}, {});
}

void Relay::tell_news(const MessageHeader& header, std::string_view text) {
  for (std::uint32_t node : here_) {
    bool hears = seats_[node].news && seats_[node].place.presence == Place::Presence::kJoined;
    if (!hears || node == header.node) continue;
    seats_[node].unsent_news.emplace_back(header, text);
    send_news(node);
  }
}

void Relay::send_news(std::uint32_t node) {
  Seat& seat = seats_[node];
  if (seat.place.presence != Place::Presence::kJoined || seat.place.gone) seat.unsent_news.clear();
  while (!seat.unsent_news.empty()) {
    const auto& [header, text] = seat.unsent_news.front();
    PacketStatus status = send_text(seat.news.get(), header, text, MSG_DONTWAIT);
    if (status == PacketStatus::kAgain) {
      must_retry_ = true;
      return;
    }
    seat.unsent_news.pop_front();
  }
}

}  // namespace terrane::bootstrap
