#include "routing/inbound.h"

#include <algorithm>

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

Inbound::Inbound(Address self, std::uint64_t window) : self_(self), window_(window) {}

bool Inbound::continues(const Peer& peer, const FrameHeader& header) {
  if (peer.bye) return false;
  if (peer.rest == 0) return true;
  return header.kind == FrameKind::kData && header.tag == peer.tag && header.rest < peer.rest &&
         header.payload_bytes == peer.rest - header.rest;
}

bool Inbound::frame(const FrameHeader& header, Bytes payload, Receiver& receiver) {
  if (header.kind != FrameKind::kData && header.kind != FrameKind::kBye) return false;
  if (!is_frame(header) || payload.size() != header.payload_bytes) return false;
  if (header.to != self_ || header.from == self_) return false;
  auto found = peers_.find(header.from);
  if (found == peers_.end()) {
    if (peers_.size() >= kMaxAddresses) return false;
    found = peers_.emplace(header.from, Peer{}).first;
  }
  Peer& peer = found->second;
  if (peer.broken) return true;
  bool accepts = header.position == peer.position;
  if (header.position < peer.position) {
    mark(Mark::kDuplicateDropped);
    if (mutant(Mutant::kDuplicateDelivered) && header.kind == FrameKind::kData && header.rest == 0)
      receiver.message(header.from, header.tag, payload);
    // Spares the peer the other duplicates: less than a quarter of the window, which it was not
    // told of yet. Nothing depends on it: a position that was lost on its way is repeated by
    // Outbound::choose(), and one that was not told yet is told when a quarter is full.
    tell(header.from, peer);
    return true;
  }
  if (!accepts) {
    mark(Mark::kGapDropped);
    if (!mutant(Mutant::kGapAccepted)) return true;
    peer.position = header.position;
  }
  if (!continues(peer, header)) {
    peer.broken = true;
    peer.message = {};
    receiver.broken(header.from);
    return true;
  }
  take(peer, header, payload, receiver);
  return true;
}

void Inbound::take(Peer& peer, const FrameHeader& header, Bytes payload, Receiver& receiver) {
  peer.position += frame_bytes(header.payload_bytes);
  if (header.kind == FrameKind::kBye || peer.position - peer.told >= window_ / 4)
    tell(header.from, peer);
  if (header.kind == FrameKind::kBye) {
    mark(Mark::kByeTaken);
    peer.bye = true;
    receiver.bye(header.from);
    return;
  }
  if (peer.rest == 0 && header.rest == 0) {
    mark(Mark::kMessageWhole);
    receiver.message(header.from, header.tag, payload);
    return;
  }
  // Grows with the bytes that have come, not by the length in the header.
  peer.message.insert(peer.message.end(), payload.begin(), payload.end());
  peer.tag = header.tag;
  peer.rest = header.rest;
  if (peer.rest > 0) return;
  mark(Mark::kMessageJoined);
  receiver.message(header.from, header.tag, peer.message);
  if (peer.message.capacity() > kKeptCapacity) peer.message = {};
  peer.message.clear();
}

void Inbound::tell(Address address, Peer& peer) {
  if (peer.tells) return;
  peer.tells = true;
  tells_.push_back(address);
}

std::vector<Inbound::Taken> Inbound::take_taken() {
  std::vector<Taken> taken;
  taken.reserve(tells_.size());
  for (Address address : tells_) {
    Peer& peer = peers_.at(address);
    peer.tells = false;
    if (peer.broken) continue;
    peer.told = peer.position;
    taken.push_back({address, peer.position});
  }
  tells_.clear();
  return taken;
}

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
