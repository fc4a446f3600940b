#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "protocol/push/push_tree.h"

namespace terrane::runtime {

// Pushes on their way to readers. Runs for one reader travel together in messages of about sixteen
// pages, in the order of add(). Longer messages would not be cheaper, and the reader would wait
// longer for the first run. Owns the messages. Keeps the buffers of a few: a new buffer that grows
// at each barrier exit costs as much as the sending. One thread at a time.
class PushesOut {
 public:
  static constexpr std::size_t kMost = std::size_t{68} << 10;  // bytes; a single run may exceed it
  static constexpr std::size_t kFull = std::size_t{64} << 10;  // sent at this size: sixteen pages

  bool empty() const { return open_.empty(); }

  // Adds the part to the message for `to`, which passes the part on to `further`. Sends a message
  // that is full by send(NodeId to, Bytes message).
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
  std::vector<std::vector<std::byte>> room_;  // buffers of messages that were sent
};

}  // namespace terrane::runtime
