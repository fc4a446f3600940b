#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/prng.h"
#include "routing/inbound.h"
#include "routing/outbound.h"
#include "routing/router.h"
#include "sim/schedule.h"
#include "sim/trace.h"
#include "sim/violation.h"

namespace terrane::sim {

struct RoutingOutcome {
  Violation violation;
  std::uint64_t steps = 0;
  std::uint64_t frames = 0;
  std::uint64_t messages = 0;  // that were delivered
  std::uint64_t breaks = 0;    // gateways that died, links that were lost
  std::uint64_t hash = 0xcbf29ce484222325u;

  bool failed() const { return violation.fault != Fault::kNone; }
};

// A job of some clusters whose ends send each other messages through gateways. Connections have
// little room, and are slow now and then. Gateways and ends die, gateways start again, links are
// lost and made again, ends stop reading. Checks that each message arrives once, in order and
// whole, or that its sender or receiver is lost; that no end is reported lost while a path leads to
// it all the time; that a gateway holds at most a window of each pair; and that an end that does
// not read holds up no other end.
class RoutingHistory {
 public:
  // trace may be nullptr.
  RoutingOutcome run(std::uint64_t seed, Trace* trace);

 private:
  using Address = routing::Address;

  static constexpr std::uint64_t kMaxSteps = 100'000;
  static constexpr std::uint32_t kMaxEnds = 12;
  static constexpr std::uint64_t kWhenQuiet = ~std::uint64_t{0};

  struct Message {
    std::uint16_t tag = 0;
    std::uint32_t bytes = 0;
  };
  // What two ends have exchanged, as the first one sees it.
  struct Pair {
    std::vector<Message> sent;
    std::size_t received = 0;
    bool said_bye = false, has_bye = false;
    bool reached = false;  // the other end was reachable at some time
  };
  enum class Leaves : std::uint8_t { kNever, kWhenIdle, kWithTheOthers };
  struct End {
    std::uint32_t cluster = 0;
    std::unique_ptr<routing::Outbound> out;
    std::unique_ptr<routing::Inbound> in;
    std::vector<Pair> pairs;  // by end
    std::uint32_t to_send = 0;
    Leaves leaves = Leaves::kNever;
    bool alive = true, left = false;
    bool stalled = false;             // it does not read
    std::uint64_t settled_ticks = 0;  // value of settled_ at its last tick
  };
  struct Gateway {
    std::uint32_t cluster = 0;
    std::unique_ptr<routing::Router> router;
    bool alive = true;
  };
  // One end of a connection: a gateway's port, or an end's way.
  struct Side {
    bool is_end = false;
    std::uint32_t machine = 0;  // index of the end or the gateway
    std::uint32_t number = 0;   // of the port or the way
    bool open = false;          // this side regards the connection as open
    // Frames that the other side has sent and this side has not yet received.
    std::deque<std::vector<std::byte>> frames;
    std::uint64_t bytes = 0;
    bool cut = false;  // no frame comes after these
  };
  struct Connection {
    Side sides[2];
    std::uint64_t room = 0;
    std::uint64_t settled_open = 0;  // value of settled_ when it was made
  };
  enum class EventKind : std::uint8_t {
    kConnect,
    kBreak,
    kGatewayDies,
    kGatewayStarts,
    kEndDies,
    kStall,
    kRead
  };
  struct Event {
    EventKind kind{};
    std::uint32_t which = 0;
    std::uint64_t step = 0;
    bool done = false;
  };
  class Deliveries;

  // routing_history.cpp
  void begin(std::uint64_t seed);
  void draw_clusters();
  void connect_to(Side a, Side b);
  void draw_programs();
  void draw_events();
  void add_event(EventKind kind, std::uint32_t which, std::uint64_t step);
  void loop();
  bool happens_when_quiet();
  bool happens(const Event& event);
  void send(std::uint32_t end);
  void bye(std::uint32_t end);
  void may_leave(std::uint32_t end);
  bool has_heard_all(std::uint32_t end) const;
  void stop(std::uint32_t end, bool loses);
  void tick_at_random();
  void tick(std::uint32_t end);

  // routing_network.cpp
  bool connect(std::uint32_t connection);
  void open(const Side& side, const Side& other);
  static void end_side(Side& side);
  void break_off(std::uint32_t connection, bool loses);
  void kill_gateway(std::uint32_t gateway);
  void start_gateway(std::uint32_t gateway);
  void pump(std::uint32_t connection, std::uint32_t side);
  void deliver(std::uint32_t connection, std::uint32_t side);
  void close(std::uint32_t connection, std::uint32_t side);
  void receive(Side& side, const routing::FrameHeader& header, routing::Bytes payload);
  bool has_output(const Side& side) const;
  bool is_alive(const Side& side) const;
  bool is_deaf(const Side& side) const { return side.is_end && ends_[side.machine].stalled; }
  // Updates which actors can act, after a step of the side's machine.
  void refresh(const Side& side);
  void refresh(std::uint32_t connection);
  bool is_settled() const;

  // routing_checks.cpp
  static std::uint8_t byte_of(std::uint32_t from, std::uint32_t to, std::size_t index,
                              std::size_t at);
  void received(std::uint32_t end, Address from, std::uint16_t tag, routing::Bytes message);
  void received_bye(std::uint32_t end, Address from);
  void check_lost(std::uint32_t end);
  void check_held(const routing::Router& router, const routing::FrameHeader& header) const;
  // Whether a path leads there, of connections that were made before settled_ was `settled`.
  bool leads(std::uint32_t from, std::uint32_t to, std::uint64_t settled) const;
  void check_quiet() const;
  void check_pair(std::uint32_t from, std::uint32_t to) const;
  void note(std::uint64_t what) { outcome_.hash = (outcome_.hash ^ what) * 0x100000001b3u; }

  ActorId pump_of(std::uint32_t connection, std::uint32_t side) const {
    return static_cast<ActorId>(kMaxEnds + 4 * connection + side);
  }
  ActorId delivery_to(std::uint32_t connection, std::uint32_t side) const {
    return static_cast<ActorId>(pump_of(connection, side) + 2);
  }

  base::Prng rng_{0};
  Trace* trace_ = nullptr;
  RoutingOutcome outcome_;
  Schedule schedule_;
  std::uint64_t window_ = 0;
  std::vector<End> ends_;
  std::vector<Gateway> gateways_;
  std::vector<Connection> connections_;
  std::vector<Event> events_;
  std::uint64_t settled_ = 0;  // how often all changes of what can be reached had been reported
};

}  // namespace terrane::sim
