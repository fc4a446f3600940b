#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "protocol/push/push_tree.h"

namespace terrane::runtime {

// Pushes on their way out: runs for one reader travel together, in the order that they come in, in
// messages of some sixteen pages. Longer ones are no cheaper, and a reader would wait for the whole
// of one with what it needs first. Owns the messages, and keeps the room of a few: to grow one from
// nothing at each departure cost as much as to send it. By one thread at a time.
class PushesOut {
 public:
  static constexpr std::size_t kMost = std::size_t{68} << 10;  // of a message, but for a single run
  static constexpr std::size_t kFull = std::size_t{64} << 10;  // it goes: sixteen pages in any runs

  bool empty() const { return open_.empty(); }

  // The part joins what is collected for `to`, which passes it on to `further`.
  // send(NodeId to, Bytes message).
  template <typename Send>
  void add(const protocol::PushPart& part, NodeId to, std::span<const NodeId> further, Send send) {
    auto at =
        std::find_if(open_.begin(), open_.end(), [&](const One& one) { return one.to == to; });
    if (at == open_.end()) at = open_.insert(at, {to, take_room()});
    std::vector<std::byte>& message = at->message;
    std::size_t before = message.size();
    protocol::put_push_head(message, part, further);
    if (before > 0 && message.size() + part.bytes.size() > kMost) {
      send(to, protocol::Bytes(message).first(before));
      message.erase(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(before));
    }
    message.insert(message.end(), part.bytes.begin(), part.bytes.end());
    if (message.size() < kFull) return;
    send(to, protocol::Bytes(message));
    message.clear();
  }
  template <typename Send>
  void send_all(Send send) {
    for (One& one : open_) {
      if (!one.message.empty()) send(one.to, protocol::Bytes(one.message));
      one.message.clear();
      if (room_.size() < protocol::kPushArity) room_.push_back(std::move(one.message));
    }
    open_.clear();
  }

 private:
  struct One {
    NodeId to;
    std::vector<std::byte> message;
  };

  std::vector<std::byte> take_room() {
    if (room_.empty()) return {};
    std::vector<std::byte> room = std::move(room_.back());
    room_.pop_back();
    return room;
  }

  std::vector<One> open_;
  std::vector<std::vector<std::byte>> room_;  // of messages that have gone
};

}  // namespace terrane::runtime
