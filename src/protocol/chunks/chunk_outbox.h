#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "protocol/chunks/chunk_effects.h"
#include "protocol/steps/clusters.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using wire::ChunkKind;
using wire::ChunkMessage;

// Writes a step's effects into the host's buffer. What a node sends to itself, from its client to
// its server or back, goes into the queue `own`, which the machine handles in the same step.
class ChunkOutbox {
 public:
  explicit ChunkOutbox(NodeId self) : self_(self) {}

  void open(Effects& effects) { effects_ = &effects; }
  void set_epoch(std::uint32_t epoch) { epoch_ = epoch; }
  void set_clusters(const Clusters* clusters) { clusters_ = clusters; }
  NodeId self() const { return self_; }
  // Whether messages from this node to both of these cross the same link.
  bool share_link(NodeId a, NodeId b) const {
    if (clusters_ == nullptr || std::max(a, b).value >= clusters_->nodes()) return false;
    return clusters_->together(a, b) && !clusters_->together(a, self_);
  }

  void send(NodeId to, ChunkMessage message, Bytes tail = {}) {
    put(to, message, tail, Place{}, false);
  }
  // The message, and the bytes of the chunk's buffer as they are now. Within one node they are
  // copied only if they have to be.
  void send_data(NodeId to, ChunkMessage message, Place place = Place{},
                 std::uint64_t data_bytes = ~0ull) {
    put(to, message, {}, place, true, data_bytes);
  }
  void resume(WaiterId waiter, Status status, ChunkId chunk = kNoChunk, std::uint64_t version = 0,
              Place place = Place{}, std::uint64_t missed = 0, Range changed = {}) {
    effects_->list.push_back(Resume{waiter, status, chunk, version, place, missed, changed});
  }
  void resume(WaiterId waiter, ChunkId chunk, std::uint64_t version, Place place,
              const WorkVersion& work) {
    effects_->list.push_back(Resume{waiter, Status::kOk, chunk, version, place, 0, {}, work});
  }
  void notify_writable(ChunkId chunk) { effects_->list.push_back(NotifyWritable{chunk}); }
  void returned(WorkReturned what) { effects_->list.push_back(std::move(what)); }
  void notify(ChunkId chunk, std::uint64_t version) {
    effects_->list.push_back(Notify{chunk, version});
  }
  void provide(ChunkId chunk, std::uint64_t bytes, Place place = Place{}) {
    std::erase_if(leaving_, [&](const Discard& discard) {
      if (discard.chunk != chunk || discard.place != place) return false;
      effects_->list.push_back(discard);
      return true;
    });
    effects_->list.push_back(Provide{chunk, place, bytes});
  }
  // Stores bytes that came with a message of `from`.
  void install(NodeId from, ChunkId chunk, Bytes bytes, Place place = Place{}) {
    if (from != self_) {
      effects_->list.push_back(Install{chunk, place, bytes});
    } else if (own_place != place) {
      copy(chunk, own_place, place);
    }
  }
  void copy(ChunkId chunk, Place from, Place to) {
    effects_->list.push_back(CopyBytes{chunk, from, to});
  }
  // Takes effect at the end of the step: what the node sent to itself may still have to be copied
  // from this buffer.
  void discard(ChunkId chunk, Place place = Place{}) { leaving_.push_back({chunk, place}); }
  bool leaving(ChunkId chunk, Place place) const {
    return std::any_of(leaving_.begin(), leaving_.end(), [&](const Discard& discard) {
      return discard.chunk == chunk && discard.place == place;
    });
  }
  void finish() {
    for (const Discard& discard : leaving_) effects_->list.push_back(discard);
    leaving_.clear();
  }
  void lost(ChunkId chunk, const std::string& name, std::uint64_t from, std::uint64_t version) {
    effects_->list.push_back(Lost{chunk, name, from, version});
  }
  void malformed(NodeId from) { effects_->list.push_back(Malformed{from}); }

  // What the node sent to itself, in order, and the buffer with its bytes.
  struct Own {
    std::vector<std::byte> message;
    Place place;
  };
  std::deque<Own> own;
  Place own_place;  // of the message of `own` that is being handled

 private:
  void put(NodeId to, ChunkMessage& message, Bytes tail, Place place, bool with_data,
           std::uint64_t data_bytes = ~0ull) {
    message.epoch = epoch_;
    if (to == self_) {
      std::vector<std::byte>& bytes = own.emplace_back(Own{{}, place}).message;
      wire::put(bytes, message);
      bytes.insert(bytes.end(), tail.begin(), tail.end());
      return;
    }
    std::size_t from = effects_->bytes.size();
    wire::put(effects_->bytes, message);
    effects_->bytes.insert(effects_->bytes.end(), tail.begin(), tail.end());
    effects_->list.push_back(Send{to, static_cast<std::uint32_t>(from),
                                  static_cast<std::uint32_t>(effects_->bytes.size() - from),
                                  ChunkId{message.chunk}, place, with_data, data_bytes});
  }

  NodeId self_;
  const Clusters* clusters_ = nullptr;
  std::uint32_t epoch_ = 0;
  std::vector<Discard> leaving_;
  Effects* effects_ = nullptr;
};

inline bool flag(const ChunkMessage& message, std::uint8_t bit) {
  return (message.flags & bit) != 0;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
