#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "routing/frame.h"
#include "routing/instrument.h"
#include "routing/turns.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

// A gateway's part: takes frames from its neighbours and gives them to the neighbour on the way to
// their receiver. Neighbours are ends (nodes, engines, the hub, its own end) and gateways of other
// clusters. Each gateway tells all others of its links, and chooses shortest paths. It tells the
// neighbours where a path has changed, and frames may have been lost. Frames of a pair stay in
// order; a neighbour that does not read holds up nobody else. Stateless with respect to protocols.
// One thread.
class Router {
 public:
  struct Limits {
    // Bytes of a pair that may be on their way, as of all ends' Outbound. No more of a pair wait
    // here: held bytes are at most this for each pair of ends that talk through the gateway.
    std::uint64_t window;
  };
  struct Counters {
    std::uint64_t frames = 0, bytes = 0;  // passed on
    std::uint64_t batches = 0;            // fills that gave something
    std::uint64_t dropped = 0;  // no way leads to their receiver, or they wait here already
    std::uint64_t held_bytes = 0, most_held_bytes = 0;
  };

  // The gateway's own end, if it has one, is a neighbour of the same address.
  Router(Address self, Limits limits);

  // A neighbour. False: one of this address is there already. Ports are numbered by the caller,
  // each once at a time.
  bool open(std::uint32_t port, Address neighbour);
  // What waits for it is dropped; those that sent it hear of it.
  void close(std::uint32_t port);
  // False: the frame makes no sense there (a wrong sender, a malformed one), and the port is to be
  // closed.
  bool received(std::uint32_t port, const FrameHeader& header, Bytes payload);

  bool has_output(std::uint32_t port) const;
  // Appends whole frames until `out` holds `at_most` bytes or more.
  void fill(std::uint32_t port, std::vector<std::byte>& out, std::size_t at_most);

  bool reaches(Address address) const { return routes_.contains(address); }
  // Whether a change of what can be reached waits for this neighbour.
  bool has_changes(std::uint32_t port) const;
  // What waits of one pair.
  std::uint64_t held_bytes(Address from, Address to) const;
  const Counters& counters() const { return counters_; }

 private:
  using Pair = std::pair<Address, Address>;  // to, from
  struct Waiting {
    std::uint64_t position = 0;
    std::vector<std::byte> bytes;
    std::uint64_t end() const { return position + bytes.size(); }
  };
  struct Taken {
    std::uint64_t position;
    std::uint8_t hops;
  };
  // Of one pair at one port, by position.
  struct Queue {
    Pair pair;
    std::deque<Waiting> frames;
    std::int64_t surplus = kTurnBytes;
  };
  struct Port {
    Address neighbour;
    bool is_gateway = false;
    std::map<Address, std::uint8_t> told;  // what an end is told, soon or already: hops
    std::map<Address, bool> changes;       // that the neighbour is still to hear of; true: again
    std::set<Address> links;               // gateways whose links it is still to hear of
    std::map<Pair, Taken> takens;          // kTaken frames for it, the latest of each pair
    std::map<Pair, Queue> queues;
    Turns<Queue> turns;
  };
  // Of a gateway.
  struct Known {
    std::uint64_t version = 0;
    std::vector<Address> neighbours;  // in order
    auto operator<=>(const Known&) const = default;
    bool has(Address address) const;
  };
  struct Route {
    std::uint32_t port;
    std::uint8_t hops;
    bool operator==(const Route&) const = default;
  };
  // Shortest paths to something: their first ports.
  struct Paths {
    std::uint8_t hops = 0;
    std::vector<std::uint32_t> ports;
    void add(std::uint8_t hops, const std::vector<std::uint32_t>& ports);
  };

  bool again(std::uint32_t port, Bytes payload);
  bool learn(std::uint32_t port, Port& from, Bytes payload);
  // Its own neighbours are others.
  void change_links();
  void spread(Address gateway, std::uint32_t except);
  void choose_routes();
  std::map<Address, Paths> shortest_paths() const;
  // The route to the address has changed, or `again`: frames on it may have been lost.
  void tell(Address address, bool again);
  void advertise(std::uint32_t port, Address address, bool again);
  void fill_links(Port& port, std::vector<std::byte>& out);
  void fill_changes(Port& port, std::vector<std::byte>& out);
  void pass_on(Port& port, const FrameHeader& header, Bytes payload);
  // Whether a frame of these bytes has its place in the queue, and where.
  std::optional<std::size_t> place_of(Queue& queue, std::uint64_t position, std::uint64_t bytes);
  void remove_front(Port& port, Queue& queue);
  bool is_held_up(const Port& port) const;
  // Drops what waits at the port for this receiver.
  void drop_queues(Port& port, Address to);
  void drop(Queue& queue);

  static constexpr std::size_t kMaxGateways = 256;
  static constexpr std::size_t kMostNeighbours =
      (kMaxPayloadBytes - sizeof(Links)) / sizeof(Address);  // that it tells of

  Address self_;
  Limits limits_;
  Counters counters_;
  std::map<std::uint32_t, Port> ports_;
  std::map<Address, Known> gateways_;
  std::map<Address, Route> routes_;
};

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
