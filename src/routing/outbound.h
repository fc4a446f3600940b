#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "routing/frame.h"
#include "routing/instrument.h"
#include "routing/pair_sender.h"
#include "routing/turns.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

// What an end of the network (a node, an engine, the hub) sends: for each peer a stream of frames
// with credits, over one of its ways. A way is a connection to a gateway, or directly to peers.
// What a peer has not taken yet is kept, and sent again over another way where the first one is
// lost. One thread at a time.
class Outbound {
 public:
  // `window`: bytes of a pair that may be on their way, at least kLeastWindow, the same at all
  // ends. A frame takes at most a quarter of it. `ways`: how many there are at most.
  Outbound(Address self, std::uint64_t window, std::uint32_t ways);

  // Queues a message made of two parts; copies them. Never fails: to a peer that is lost it is
  // dropped. To one that no way reaches yet it is kept.
  void send(Address to, std::uint16_t tag, Bytes head, Bytes tail);
  // That was all for the peer: nothing is sent to it afterwards.
  void bye(Address to);
  // ... for every peer that anything was sent to.
  void bye();

  void open(std::uint32_t way);
  // What was lost on the way is sent again over others.
  void close(std::uint32_t way);
  // A frame of kind kReach, kTaken or kBeat has come. False: it makes no sense, and the way is to
  // be closed. A peer that says it has taken what was not sent is lost.
  bool control(std::uint32_t way, const FrameHeader& header, Bytes payload);
  // Inbound has taken so much of the peer's stream: to be told to it, now and after each change of
  // the way to it.
  void tell_taken(Address peer, std::uint64_t position);
  // The peer's bye has come: it may go any time. It is not in take_lost() afterwards.
  void gone(Address peer);

  // Whether fill() would give something.
  bool has_output(std::uint32_t way) const;
  // Appends whole frames to `out` until it holds `at_most` bytes or more, or there are none.
  // Control frames first; then the pairs take turns.
  void fill(std::uint32_t way, std::vector<std::byte>& out, std::size_t at_most);

  bool reaches(Address peer) const;
  // Or gone: nothing is sent to it any more.
  bool is_lost(Address peer) const;
  // The driver calls it at equal intervals that are long beside the time in which gateways tell
  // each other of a change. A peer that could be reached, and cannot from one call to the next, is
  // lost, and stays so.
  void tick();
  // Peers that were lost since the last call; without those that had said bye.
  std::vector<Address> take_lost();
  // The driver gives a peer up.
  void lose(Address peer);
  // All that was sent has been taken, or its receiver is lost or has gone.
  bool is_idle() const;
  // Bytes that wait for the peer: not taken yet.
  std::uint64_t kept_bytes(Address peer) const;

  static constexpr std::uint64_t kLeastWindow = 1024;

 private:
  static constexpr int kNoWay = -1;

  struct Peer {
    PairSender sender;
    Address address;
    int way = kNoWay;    // that leads to it
    int turns = kNoWay;  // in whose turns it is: it has frames and credit
    int tells = kNoWay;  // in whose tells it is: `position_told` is to be told
    std::int64_t surplus = kTurnBytes;
    std::uint64_t position_told = 0;
    bool tells_wanted = false;
    bool reached = false;   // at some time
    bool missed = false;    // not reached since the last tick
    bool said_bye = false;  // bye() was called
    bool gone = false, lost = false;
  };
  struct Way {
    bool open = false;
    std::map<Address, std::uint8_t> hops;
    Turns<Peer> turns;
    std::deque<Peer*> tells;
  };

  Peer& peer(Address address);
  Peer* find(Address address);
  const Peer* find(Address address) const;
  int best_way(const Peer& peer) const;
  // Chooses the peer's way anew. `again`: frames on their way to it may have been lost.
  void choose(Peer& peer, bool again);
  // Puts it into the turns and tells that it belongs to, and takes it out of others.
  void schedule(Peer& peer);
  bool reach(std::uint32_t way, Bytes payload);
  bool taken(const FrameHeader& header);

  Address self_;
  std::uint64_t window_;
  std::uint32_t frame_payload_;
  std::map<Address, Peer> peers_;
  std::vector<Way> ways_;
  std::vector<Address> lost_;
};

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
