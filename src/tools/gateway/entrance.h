#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stream/connection.h"
#include "tools/launch/loop.h"
#include "tools/launch/ports.h"
#include "transport/routed/hello.h"

namespace terrane::tools {

// Where a gateway lets in nodes, engines and gateways that prove its secret and send a hello. A
// visitor that is slow, talks nonsense or does not know the secret loses its own connection alone;
// it costs a bounded time and memory. Owns the connections until they are handed on.
class Entrance {
 public:
  using OnGuest =
      std::function<void(std::unique_ptr<stream::Connection>, transport::routed::Hello)>;

  Entrance(Loop& loop, stream::Credentials credentials, OnGuest on_guest);
  ~Entrance() { close(); }
  Entrance(const Entrance&) = delete;

  base::Result<> open(PortRange ports);
  std::uint16_t port() const { return port_; }
  void close();

 private:
  struct Visitor {
    std::unique_ptr<stream::Connection> connection;
    std::uint64_t until_ms;
  };
  using At = std::list<Visitor>::iterator;

  void accept_all();
  void admit(base::UniqueFd socket);
  void hear(At visitor);
  void drop(At visitor);
  void clean_up();

  Loop& loop_;
  stream::Credentials credentials_;
  OnGuest on_guest_;
  base::UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::list<Visitor> visitors_;
  Timer clean_;
};

}  // namespace terrane::tools
