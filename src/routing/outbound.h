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

// The sending side of an end of the network (a node, an engine, the hub): for each peer a stream of
// frames, bounded by a window, over one of the ways. A way is a connection to a gateway, or
// directly to peers. Frames that a peer has not taken yet are kept, and sent again over another way
// if the first one is lost. One thread at a time may use it.
class Outbound {
 public:
  // `window`: bytes of a pair that may be under way; at least kLeastWindow, and the same at all
  // ends. A frame takes at most a quarter of it. `ways`: the largest number of ways.
  Outbound(Address self, std::uint64_t window, std::uint32_t ways);

  // Queues a message made of two parts, which are copied. Never fails: a message to a lost peer is
  // dropped. A message to a peer that no way reaches yet is kept.
  void send(Address to, std::uint16_t tag, Bytes head, Bytes tail);
  // Ends the stream to the peer: nothing may be sent to it afterwards.
  void bye(Address to);
  // The same for every peer to which anything was sent.
  void bye();

  void open(std::uint32_t way);
  // Frames that may have been lost on the way are sent again over others.
  void close(std::uint32_t way);
  // A frame of kind kReach, kTaken or kBeat has come. False: it is malformed, and the caller has to
  // close the way. A peer that confirms a position that was not sent is lost.
  bool control(std::uint32_t way, const FrameHeader& header, Bytes payload);
  // Inbound has taken the peer's stream up to `position`. The position is sent to the peer now, and
  // after each change of the way to it.
  void tell_taken(Address peer, std::uint64_t position);
  // The peer's bye has come: the peer may end at any time. take_lost() does not return it
  // afterwards.
  void gone(Address peer);

  // Whether fill() would append something.
  bool has_output(std::uint32_t way) const;
  // Appends whole frames to `out` until it holds `at_most` bytes or more, or no frame is left.
  // Control frames come first; then the pairs take turns.
  void fill(std::uint32_t way, std::vector<std::byte>& out, std::size_t at_most);

  bool reaches(Address peer) const;
  // Nothing is sent to the peer any more: it cannot be reached, or was given up; also if its bye
  // had come before.
  bool is_lost(Address peer) const;
  // The driver calls it at equal intervals, which are long compared with the time in which gateways
  // notify each other of a change. A peer that was reachable before, and is not from one call to
  // the next, is lost, and stays lost.
  void tick();
  // Peers that were lost since the last call, without those whose bye had come.
  std::vector<Address> take_lost();
  // The driver gives the peer up: it is lost.
  void lose(Address peer);
  // Every frame has been taken, or its receiver is lost.
  bool is_idle() const;
  // Bytes for the peer that it has not taken yet.
  std::uint64_t kept_bytes(Address peer) const;

  static constexpr std::uint64_t kLeastWindow = 1024;

 private:
  static constexpr int kNoWay = -1;

  struct Peer {
    PairSender sender;
    Address address;
    int way = kNoWay;    // the way that leads to the peer
    int turns = kNoWay;  // the way in whose turns it is: it has frames, and room in the window
    int tells = kNoWay;  // the way in whose tells it is: `position_told` has to be sent
    std::int64_t surplus = kTurnBytes;
    std::uint64_t position_told = 0;
    bool tells_wanted = false;
    bool reached = false;   // by a way, at some time
    bool missed = false;    // by no way since the last tick
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
  // Chooses the peer's way again. `again`: frames under way to it may have been lost.
  void choose(Peer& peer, bool again);
  // Enters the peer in the turns and tells of its way, and takes it out of those of other ways.
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
