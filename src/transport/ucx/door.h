#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"

namespace terrane::transport::ucx {

// Where a socket of UCX's listens.
struct DoorPlace {
  std::array<std::byte, 16> address{};  // the first 4, or all
  std::uint16_t port = 0;               // in the network's order
  std::uint16_t family = 0;             // AF_INET or AF_INET6

  bool operator==(const DoorPlace&) const = default;
};
static_assert(sizeof(DoorPlace) == 20);

// The sockets at which a node's UCX listens, and the word that opens them, drawn for this node and
// told to its peers alone.
struct Door {
  std::array<std::byte, 32> word{};
  std::vector<DoorPlace> places;
};

// UCX takes connections from everybody, and what comes by them it may store anywhere in the
// process. So here whoever connects to a node's UCX shows the node's word first; UCX gets a
// connection that has, and the others are closed after at most so many bytes. And where our UCX
// connects to a peer, the peer is shown its word. To this end the calls by which UCX listens,
// connects and accepts are redirected to functions of ours. UCX's connections of the program itself
// stay as they are. Thread-safe.
class DoorKeeper {
 public:
  // `version`: UCX's, for the error where its calls cannot be redirected.
  static base::Result<std::unique_ptr<DoorKeeper>> create(const char* version);
  ~DoorKeeper();
  DoorKeeper(const DoorKeeper&) = delete;

  // While this lives, sockets at which the calling thread begins to listen through UCX are ours.
  class Opening {
   public:
    explicit Opening(DoorKeeper& keeper);
    ~Opening();
    Opening(const Opening&) = delete;
  };

  Door door() const;
  // Connections to these places show this word. A node that has died may have had such a place.
  void know(const Door& peer);
  // The word that such a connection shows; none: it is not known whose place that is.
  static std::optional<std::array<std::byte, 32>> word_shown_at(const DoorPlace& place);

 private:
  DoorKeeper() = default;

  std::array<std::byte, 32> word_{};
};

// Whether the UCX that is loaded can be guarded so.
bool can_keep_doors();

}  // namespace terrane::transport::ucx
