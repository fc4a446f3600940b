#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bootstrap/packet.h"

namespace terrane::bootstrap {

// A node's card as it comes in, piece by piece; owns its descriptors and holds no more than was
// announced.
class Card {
 public:
  // Takes the piece that `reader` holds. False: it does not fit what the first piece announced, or
  // is over the limits.
  bool add(PacketReader& reader);
  bool complete() const {
    return started_ && bytes.size() == total_bytes_ && fds.size() == total_fds_;
  }

  std::vector<std::byte> bytes;
  std::vector<base::UniqueFd> fds;

 private:
  bool started_ = false;
  std::uint64_t total_bytes_ = 0;
  std::uint32_t total_fds_ = 0;
};

// A card on its way out: sends it piece by piece and remembers how far it came. Borrows what it
// sends.
class CardSender {
 public:
  // `kind`: of the messages that the pieces travel in.
  CardSender(std::uint32_t node, std::span<const std::byte> bytes, std::span<const int> fds,
             MessageKind kind = MessageKind::kCard)
      : kind_(kind), node_(node), bytes_(bytes), fds_(fds) {}

  // kDone: all is sent. Otherwise call again when the status is one that passes (kAgain,
  // kTooManyFlying).
  PacketStatus send(int socket, int flags);

 private:
  MessageKind kind_;
  std::uint32_t node_;
  std::span<const std::byte> bytes_;
  std::span<const int> fds_;
  std::size_t bytes_sent_ = 0;
  std::size_t fds_sent_ = 0;
  bool finished_ = false;
};

}  // namespace terrane::bootstrap
