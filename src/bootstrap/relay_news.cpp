// The part of the relay that tells nodes what becomes of others.

#include <sys/socket.h>

#include <bit>

#include "bootstrap/relay.h"

namespace terrane::bootstrap {
void Relay::tell_death(NodeId dead, std::string_view why) {
  tell_news({.kind = MessageKind::kDeath, .node = dead.value}, why);
}

void Relay::tell_gone(NodeId gone) {
  tell_news({.kind = MessageKind::kGone, .node = gone.value}, {});
}

void Relay::tell_newcomer(NodeId guest, std::string_view host, std::span<const std::byte> card) {
  std::string text(host);
  text.push_back('\0');
  text.append(reinterpret_cast<const char*>(card.data()), card.size());
  tell_news({.kind = MessageKind::kNewcomer, .node = guest.value}, text);
}

void Relay::tell_closed() { tell_news({.kind = MessageKind::kClosed, .node = kNoNode.value}, {}); }

// An answer may be lost; but questions pile up at a node that does not read, so that it is asked
// more and more seldom.
std::vector<NodeId> Relay::ask() {
  std::vector<NodeId> absent;
  for (std::uint32_t node : here_) {
    Seat& seat = seats_[node];
    bool hears = seat.news && seat.hears && seat.place.presence == Place::Presence::kJoined;
    if (!hears || seat.place.gone) {
      absent.push_back(NodeId{node});
    } else if (std::popcount(seat.asked++) <= 1 && seat.unsent_news.empty()) {
      MessageHeader question{.kind = MessageKind::kAsk, .node = kNoNode.value};
      send_packet(seat.news.get(), question, {}, {}, MSG_DONTWAIT);
    }
  }
  return absent;
}

void Relay::let_in(NodeId guest, std::span<const std::byte> history) {
  Seat& seat = seats_[guest.value];
  if (!seat.channel) return;
  seat.hears = true;
  MessageHeader header{.kind = MessageKind::kEntered, .node = guest.value};
  send_packet(seat.channel.get(), header, history, {}, MSG_DONTWAIT);
}

void Relay::tell_news(const MessageHeader& header, std::string_view text) {
  for (std::uint32_t node : here_) {
    const Seat& seat = seats_[node];
    bool hears = seat.news && seat.hears && seat.place.presence == Place::Presence::kJoined;
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
