#include "routing/outbound.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

Outbound::Outbound(Address self, std::uint64_t window, std::uint32_t ways)
    : self_(self), window_(window), ways_(ways) {
  TERRANE_CHECK(window >= kLeastWindow, "a window holds four frames");
  std::uint64_t quarter = (window / 4 & ~std::uint64_t{7}) - sizeof(FrameHeader);
  frame_payload_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(kMaxPayloadBytes, quarter));
}

// ---- Sending

void Outbound::send(Address to, std::uint16_t tag, Bytes head, Bytes tail) {
  Peer& peer = this->peer(to);
  if (peer.lost) return;
  TERRANE_CHECK(!peer.said_bye, "nothing is sent behind a bye");
  peer.sender.append(self_, to, tag, head, tail, frame_payload_);
  schedule(peer);
}

void Outbound::bye(Address to) {
  Peer& peer = this->peer(to);
  if (peer.lost || peer.said_bye) return;
  peer.said_bye = true;
  peer.sender.append_bye(self_, to);
  schedule(peer);
}

void Outbound::bye() {
  for (auto& [address, peer] : peers_)
    if (peer.sender.end() > 0) bye(address);
}

void Outbound::tell_taken(Address address, std::uint64_t position) {
  Peer& peer = this->peer(address);
  peer.position_told = std::max(peer.position_told, position);
  peer.tells_wanted = true;
  schedule(peer);
}

void Outbound::fill(std::uint32_t way, std::vector<std::byte>& out, std::size_t at_most) {
  Way& w = ways_[way];
  while (out.size() < at_most && !w.tells.empty()) {
    Peer& peer = *w.tells.front();
    w.tells.pop_front();
    peer.tells = kNoWay;
    peer.tells_wanted = false;
    append_frame(out,
                 {.kind = FrameKind::kTaken,
                  .from = self_,
                  .to = peer.address,
                  .position = peer.position_told},
                 {});
  }
  while (out.size() < at_most && !w.turns.empty()) {
    Peer& peer = w.turns.front();
    Bytes frame = peer.sender.next();
    out.insert(out.end(), frame.begin(), frame.end());
    peer.sender.advance();
    w.turns.charge(frame.size());
    schedule(peer);
  }
}

bool Outbound::has_output(std::uint32_t way) const {
  const Way& w = ways_[way];
  return !w.tells.empty() || !w.turns.empty();
}

void Outbound::schedule(Peer& peer) {
  bool sends = peer.sender.may_send(window_);
  if (!sends && peer.sender.sent() < peer.sender.end() && peer.way != kNoWay)
    mark(Mark::kWindowFull);
  int turns = sends ? peer.way : kNoWay;
  if (peer.turns != turns) {
    if (peer.turns != kNoWay) ways_[static_cast<std::size_t>(peer.turns)].turns.remove(peer);
    if (turns != kNoWay) ways_[static_cast<std::size_t>(turns)].turns.add(peer);
    peer.turns = turns;
  }
  int tells = peer.tells_wanted && !peer.lost ? peer.way : kNoWay;
  if (peer.tells == tells) return;
  if (peer.tells != kNoWay) std::erase(ways_[static_cast<std::size_t>(peer.tells)].tells, &peer);
  if (tells != kNoWay) ways_[static_cast<std::size_t>(tells)].tells.push_back(&peer);
  peer.tells = tells;
}

// ---- Ways

void Outbound::open(std::uint32_t way) {
  TERRANE_CHECK(!ways_[way].open, "a way is opened once");
  ways_[way].open = true;
}

void Outbound::close(std::uint32_t way) {
  ways_[way].open = false;
  ways_[way].hops.clear();
  for (auto& [address, peer] : peers_)
    if (peer.way == static_cast<int>(way)) choose(peer, true);
}

int Outbound::best_way(const Peer& peer) const {
  int best = kNoWay;
  std::uint8_t least = kUnreachable;
  std::uint64_t most = 0;
  for (std::uint32_t w = 0; w < ways_.size(); ++w) {
    auto found = ways_[w].hops.find(peer.address);
    if (found == ways_[w].hops.end() || found->second > least) continue;
    std::uint64_t mine = score(self_, peer.address, w);
    if (found->second == least && mine <= most) continue;
    best = static_cast<int>(w);
    least = found->second;
    most = mine;
  }
  return best;
}

void Outbound::choose(Peer& peer, bool again) {
  int old = peer.way;
  int way = best_way(peer);
  if (way == old && !again) return;
  peer.way = way;
  bool lost = again || old == kNoWay || way == kNoWay;
  mark(again && old == way ? Mark::kAgainHeard : lost ? Mark::kWayLost : Mark::kWayBetter);
  if (old != kNoWay && way == kNoWay) mark(Mark::kPeerUnreachable);
  if (old == kNoWay && peer.reached) mark(Mark::kPeerBack);
  if (way != kNoWay) {
    peer.reached = true;
    peer.missed = false;
  }
  if (!mutant(lost ? Mutant::kRewindForgotten : Mutant::kTwoPaths)) peer.sender.rewind();
  if (peer.position_told > 0 && !mutant(Mutant::kTakenNotRepeated)) {
    mark(Mark::kTakenToldAgain);
    peer.tells_wanted = true;
  }
  schedule(peer);
}

bool Outbound::control(std::uint32_t way, const FrameHeader& header, Bytes payload) {
  if (!ways_[way].open || !is_frame(header) || payload.size() != header.payload_bytes) return false;
  switch (header.kind) {
    case FrameKind::kReach:
      return reach(way, payload);
    case FrameKind::kTaken:
      return taken(header);
    case FrameKind::kBeat:
      return true;
    default:
      return false;
  }
}

bool Outbound::reach(std::uint32_t way, Bytes payload) {
  auto& hops = ways_[way].hops;
  for (; !payload.empty(); payload = payload.subspan(sizeof(ReachEntry))) {
    ReachEntry entry;
    std::memcpy(&entry, payload.data(), sizeof entry);
    if (entry.address == self_) continue;
    if (entry.hops >= kUnreachable) {
      hops.erase(entry.address);
    } else {
      if (peers_.size() >= kMaxAddresses && find(entry.address) == nullptr) return false;
      peer(entry.address);
      hops[entry.address] = entry.hops;
    }
    Peer* known = find(entry.address);
    if (known == nullptr || known->lost) continue;
    choose(*known,
           known->way == static_cast<int>(way) && (entry.again != 0 || entry.hops >= kUnreachable));
  }
  return true;
}

bool Outbound::taken(const FrameHeader& header) {
  if (header.to != self_) return false;
  Peer* peer = find(header.from);
  if (peer == nullptr) return header.position == 0;
  if (peer->lost) return true;
  if (!peer->sender.take(header.position)) {
    lose(header.from);
    return true;
  }
  schedule(*peer);
  return true;
}

// ---- Peers

Outbound::Peer& Outbound::peer(Address address) {
  auto [found, is_new] = peers_.try_emplace(address);
  if (is_new) found->second.address = address;
  return found->second;
}

Outbound::Peer* Outbound::find(Address address) {
  auto found = peers_.find(address);
  return found == peers_.end() ? nullptr : &found->second;
}

const Outbound::Peer* Outbound::find(Address address) const {
  auto found = peers_.find(address);
  return found == peers_.end() ? nullptr : &found->second;
}

bool Outbound::reaches(Address address) const {
  const Peer* peer = find(address);
  return peer != nullptr && !peer->lost && peer->way != kNoWay;
}

bool Outbound::is_lost(Address address) const {
  const Peer* peer = find(address);
  return peer != nullptr && peer->lost;
}

void Outbound::gone(Address address) { peer(address).gone = true; }

void Outbound::tick() {
  for (auto& [address, peer] : peers_) {
    bool misses = peer.reached && peer.way == kNoWay && !peer.lost;
    if (misses && peer.missed) lose(address);
    peer.missed = misses;
  }
}

void Outbound::lose(Address address) {
  Peer& peer = this->peer(address);
  if (peer.lost) return;
  mark(peer.gone ? Mark::kPeerGone : Mark::kPeerLost);
  peer.lost = true;
  peer.sender.drop();
  schedule(peer);
  if (!peer.gone) lost_.push_back(address);
}

std::vector<Address> Outbound::take_lost() { return std::exchange(lost_, {}); }

bool Outbound::is_idle() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const auto& entry) { return entry.second.sender.empty(); });
}

std::uint64_t Outbound::kept_bytes(Address address) const {
  const Peer* peer = find(address);
  return peer == nullptr ? 0 : peer->sender.end() - peer->sender.taken();
}

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
