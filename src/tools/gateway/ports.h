#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "routing/router.h"
#include "stream/connection.h"
#include "tools/gateway/own_end.h"
#include "tools/launch/loop.h"
#include "transport/routed/hello.h"

namespace terrane::tools {

// The connections of a gateway to its neighbours: gives the router what comes over them, and sends
// what the router has for them. Owns the router and the connections. In the loop's thread.
class Ports {
 public:
  struct Handlers {
    // A gateway of this name has become a neighbour, or is one no longer.
    std::function<void(const std::string& name)> on_link;
    std::function<void(const std::string& name, const std::string& why)> on_unlink;
  };

  // `silence_ms`: a neighbour whose host is silent for so long is lost; 0: none is.
  Ports(Loop& loop, routing::Router router, std::uint64_t silence_ms, Handlers handlers);
  ~Ports();
  Ports(const Ports&) = delete;

  // No neighbour has this address.
  bool is_free(routing::Address address) const;
  // A connection whose two ends have exchanged their hellos. False: its address is not free.
  bool add(std::unique_ptr<stream::Connection> connection, const transport::routed::Hello& hello);
  // The gateway's own end is a neighbour, too.
  void set_own(OwnEnd& end);
  // The gateway's own end has something to send.
  void carry_own(OwnEnd& end);
  // The names of the gateways that are neighbours.
  std::vector<std::string> links() const;
  const routing::Router::Counters& counters() const { return router_.counters(); }

 private:
  static constexpr std::uint32_t kOwnPort = 0;

  struct Port {
    std::unique_ptr<stream::Connection> connection;
    routing::Address address;
    std::string name;
    bool watches_room = false;
  };

  void on_ready(std::uint32_t number);
  void read(std::uint32_t number);
  void close(std::uint32_t number, const std::string& why);
  void pump_all();
  void pump(std::uint32_t number, Port& port);
  void pump_own();

  Loop& loop_;
  routing::Router router_;
  std::uint64_t silence_ms_;
  Handlers handlers_;
  OwnEnd* own_ = nullptr;
  std::map<std::uint32_t, Port> ports_;
  std::uint32_t next_ = kOwnPort + 1;
  std::vector<std::byte> scratch_;
};

}  // namespace terrane::tools
