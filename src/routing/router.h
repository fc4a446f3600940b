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

// Routes frames in a gateway: takes a frame from one neighbour, and gives it to the neighbour that
// is next on the path to the frame's receiver. Neighbours are ends (nodes, engines, the hub, the
// gateway's own end) and gateways of other clusters. Each gateway sends its links to all others,
// and chooses shortest paths. It notifies its neighbours if a path has changed, because frames may
// have been lost. Frames of a pair stay in order. A neighbour that does not read delays no other
// one. The router knows nothing of the protocols above. One thread uses it.
class Router {
 public:
  struct Limits {
    // Bytes of a pair that may be under way; the same number as in the Outbound of all ends. So at
    // most this many bytes wait here for each pair of ends that communicate through the gateway.
    std::uint64_t window;
  };
  struct Counters {
    std::uint64_t frames = 0, bytes = 0;  // passed on
    std::uint64_t batches = 0;            // calls of fill() that appended something
    std::uint64_t dropped = 0;  // frames whose receiver cannot be reached, or that wait here
                                // already
    std::uint64_t held_bytes = 0, most_held_bytes = 0;
  };

  // The gateway's own end, if it has one, is a neighbour with the address `self`.
  Router(Address self, Limits limits);

  // Adds a neighbour. False: there is one with this address already. The caller numbers the ports;
  // no two open ports have the same number.
  bool open(std::uint32_t port, Address neighbour);
  // Removes the neighbour. Frames that wait for it are dropped, and their senders are notified.
  void close(std::uint32_t port);
  // A frame has come from the neighbour. False: it is malformed or has a wrong sender, and the
  // caller has to close the port.
  bool received(std::uint32_t port, const FrameHeader& header, Bytes payload);

  bool has_output(std::uint32_t port) const;
  // Appends whole frames until `out` holds `at_most` bytes or more.
  void fill(std::uint32_t port, std::vector<std::byte>& out, std::size_t at_most);

  bool reaches(Address address) const { return routes_.contains(address); }
  // Whether a change of links or of reachable addresses waits to be sent to this neighbour.
  bool has_changes(std::uint32_t port) const;
  // Bytes of one pair that wait here.
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
  // The frames of one pair that wait at one port, ordered by position.
  struct Queue {
    Pair pair;
    std::deque<Waiting> frames;
    std::int64_t surplus = kTurnBytes;
  };
  struct Port {
    Address neighbour;
    bool is_gateway = false;
    std::map<Address, std::uint8_t> told;  // of an end: hops of the addresses in kReach frames,
                                           // sent or in `changes`
    std::map<Address, bool> changes;       // not sent yet; true: frames may have been lost
    std::set<Address> links;               // gateways whose links are not sent to it yet
    std::map<Pair, Taken> takens;          // for it; of each pair the latest position
    std::map<Pair, Queue> queues;
    Turns<Queue> turns;
  };
  // What this gateway knows of the links of one gateway.
  struct Known {
    std::uint64_t version = 0;
    std::vector<Address> neighbours;  // sorted
    auto operator<=>(const Known&) const = default;
    bool has(Address address) const;
  };
  struct Route {
    std::uint32_t port;
    std::uint8_t hops;
    bool operator==(const Route&) const = default;
  };
  // The shortest paths to one address: the ports at which they start.
  struct Paths {
    std::uint8_t hops = 0;
    std::vector<std::uint32_t> ports;
    void add(std::uint8_t hops, const std::vector<std::uint32_t>& ports);
  };

  bool again(std::uint32_t port, Bytes payload);
  bool learn(std::uint32_t port, Port& from, Bytes payload);
  // The neighbours of this gateway have changed.
  void change_links();
  void spread(Address gateway, std::uint32_t except);
  void choose_routes();
  std::map<Address, Paths> shortest_paths() const;
  // Enters a change for the neighbours: the route to the address is another one. `again`: frames on
  // it may have been lost, and have to be sent again.
  void tell(Address address, bool again);
  void advertise(std::uint32_t port, Address address, bool again);
  void fill_links(Port& port, std::vector<std::byte>& out);
  void fill_changes(Port& port, std::vector<std::byte>& out);
  void pass_on(Port& port, const FrameHeader& header, Bytes payload);
  // The index in the queue for a frame of `bytes` bytes. nullopt: it is too old, or waits already.
  std::optional<std::size_t> place_of(Queue& queue, std::uint64_t position, std::uint64_t bytes);
  void remove_front(Port& port, Queue& queue);
  bool is_held_up(const Port& port) const;
  // Drops the frames for this receiver that wait at the port.
  void drop_queues(Port& port, Address to);
  void drop(Queue& queue);

  static constexpr std::size_t kMaxGateways = 256;
  static constexpr std::size_t kMostNeighbours =
      (kMaxPayloadBytes - sizeof(Links)) / sizeof(Address);  // in one Links

  Address self_;
  Limits limits_;
  Counters counters_;
  std::map<std::uint32_t, Port> ports_;
  std::map<Address, Known> gateways_;
  std::map<Address, Route> routes_;
};

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
