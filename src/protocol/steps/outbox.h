#pragma once

#include <span>

#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

inline void put_bytes(std::vector<std::byte>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Writes a step's effects into the host's buffer, where messages are built in place.
class Outbox {
 public:
  void open(Effects& effects) { effects_ = &effects; }

  // What is put into the result between begin() and send() or resume() is the message, or the
  // payload.
  std::vector<std::byte>& begin() {
    from_ = effects_->bytes.size();
    return effects_->bytes;
  }
  void send(NodeId to) { effects_->list.push_back(Send{to, offset(), size()}); }
  void send_with(NodeId to, BlockRange blocks) {
    effects_->list.push_back(Send{to, offset(), size(), blocks});
  }
  // With those of the blocks that may be sent now (Send::wanted).
  void send_wanted(NodeId to, std::span<const std::uint64_t> blocks) {
    Send send{.to = to,
              .offset = offset(),
              .size = size(),
              .wanted = static_cast<std::uint32_t>(blocks.size())};
    put_bytes(effects_->bytes, std::as_bytes(blocks));
    effects_->list.push_back(send);
  }
  void resume(WaiterId waiter, std::uint64_t value) {
    effects_->list.push_back(Resume{waiter, value, offset(), size()});
  }
  // Without payload.
  void resume_plain(WaiterId waiter, std::uint64_t value) {
    begin();
    resume(waiter, value);
  }
  void drop(RegionId region, BlockRange blocks) { effects_->list.push_back(Drop{region, blocks}); }
  void recall(const Recall& recall) { effects_->list.push_back(recall); }
  void place(BlockId block, Bytes bytes) { effects_->list.push_back(Place{block, bytes}); }
  // The ranges are what was put since begin().
  void expire(NodeId origin, WaiterId waiter, NodeId home) {
    effects_->list.push_back(Expire{origin, waiter, offset(), size(), home});
  }
  void offer(const Offer& offer) { effects_->list.push_back(offer); }
  void adopt(const Adopt& adopt) { effects_->list.push_back(adopt); }
  void release_kept(const ReleaseKept& kept) { effects_->list.push_back(kept); }
  void turn_extended(LockId lock) { effects_->list.push_back(TurnExtended{lock}); }
  void malformed(NodeId from) { effects_->list.push_back(Malformed{from}); }

 private:
  std::uint32_t offset() const { return static_cast<std::uint32_t>(from_); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(effects_->bytes.size() - from_); }

  Effects* effects_ = nullptr;
  std::size_t from_ = 0;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
