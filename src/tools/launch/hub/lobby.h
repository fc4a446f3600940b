#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "stream/handshake.h"
#include "tools/launch/guests/introduction.h"
#include "tools/launch/link.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// Where the engines of a job's hosts come in, while the job starts: listens, lets in those that
// prove the job's secret, and hands on those that have introduced themselves. A visitor that is
// slow, talks nonsense or does not know the secret loses its own connection alone; it costs a
// bounded time and a few hundred bytes. Owns the connections until they are handed on.
class Lobby {
 public:
  struct Handlers {
    std::function<void(std::unique_ptr<Link>, const Introduction&)> on_guest;
    // Somebody who knows Terrane's greeting cannot be let in: a sentence about it.
    std::function<void(const std::string&)> on_stranger;
  };

  Lobby(Loop& loop, const stream::Secret& secret, Handlers handlers);
  ~Lobby() { close(); }
  Lobby(const Lobby&) = delete;
  Lobby& operator=(const Lobby&) = delete;

  // Listens on every address of this host, at a port that the kernel chooses.
  base::Result<> open();
  std::uint16_t port() const { return port_; }
  // A visitor that has come another way, through gateways.
  void admit(base::UniqueFd socket);
  void close();

 private:
  // Somebody at the door.
  struct Visitor {
    base::UniqueFd socket;
    stream::Handshake handshake;
    std::unique_ptr<Link> link;  // once the secret is proved
    std::uint64_t until_ms;
    bool gone = false;
  };
  using At = std::list<Visitor>::iterator;

  void accept_all();
  void prove(At visitor);
  void introduce(At visitor);
  void drop(At visitor);
  void clean_up();

  Loop& loop_;
  stream::Secret secret_;
  Handlers handlers_;
  base::UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::list<Visitor> visitors_;
  Timer clean_;
};

}  // namespace terrane::tools
