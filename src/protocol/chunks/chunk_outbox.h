#pragma once

#include <deque>
#include <vector>

#include "protocol/chunks/chunk_effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using wire::ChunkKind;
using wire::ChunkMessage;

// Writes a step's effects into the host's buffer. What a node sends to itself, between its part as
// a client and its part as a server, waits in a queue of its own until the step goes on.
class ChunkOutbox {
 public:
  explicit ChunkOutbox(NodeId self) : self_(self) {}

  void open(Effects& effects) { effects_ = &effects; }
  void set_epoch(std::uint32_t epoch) { epoch_ = epoch; }
  NodeId self() const { return self_; }

  void send(NodeId to, ChunkMessage message, Bytes tail = {}) { put(to, message, tail, false); }
  // With the chunk's bytes as they are now; between the parts of one node they stay in place.
  void send_data(NodeId to, ChunkMessage message) { put(to, message, {}, true); }
  void resume(WaiterId waiter, Status status, ChunkId chunk = kNoChunk, std::uint64_t version = 0) {
    effects_->list.push_back(Resume{waiter, status, chunk, version});
  }
  void provide(ChunkId chunk, std::uint64_t bytes) {
    effects_->list.push_back(Provide{chunk, bytes});
  }
  // Bytes that came with a message of `from`.
  void install(NodeId from, ChunkId chunk, Bytes bytes) {
    if (from != self_) effects_->list.push_back(Install{chunk, bytes});
  }
  void discard(ChunkId chunk) { effects_->list.push_back(Discard{chunk}); }
  void malformed(NodeId from) { effects_->list.push_back(Malformed{from}); }

  // What the node sent to itself, in order.
  std::deque<std::vector<std::byte>> own;

 private:
  void put(NodeId to, ChunkMessage& message, Bytes tail, bool with_data) {
    message.epoch = epoch_;
    if (to == self_) {
      std::vector<std::byte>& bytes = own.emplace_back();
      wire::put(bytes, message);
      bytes.insert(bytes.end(), tail.begin(), tail.end());
      return;
    }
    std::size_t from = effects_->bytes.size();
    wire::put(effects_->bytes, message);
    effects_->bytes.insert(effects_->bytes.end(), tail.begin(), tail.end());
    effects_->list.push_back(Send{to, static_cast<std::uint32_t>(from),
                                  static_cast<std::uint32_t>(effects_->bytes.size() - from),
                                  ChunkId{message.chunk}, with_data});
  }

  NodeId self_;
  std::uint32_t epoch_ = 0;
  Effects* effects_ = nullptr;
};

inline bool flag(const ChunkMessage& message, std::uint8_t bit) {
  return (message.flags & bit) != 0;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
