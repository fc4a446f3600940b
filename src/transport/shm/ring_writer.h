#pragma once

#include <atomic>
#include <cstdint>

#include "transport/gather.h"
#include "transport/shm/area.h"
#include "wire/frame.h"

namespace terrane::transport::shm {

// A frame in the ring; its place is a multiple of a cache line, so that a small message is one
// line.
struct Frame {
  std::atomic<std::uint64_t> control;  // wire::frame_control, stored last
  std::uint64_t sequence;

  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Frame) == sizeof(wire::FrameHeader));

constexpr std::uint64_t frame_span(std::uint64_t payload_bytes) {
  return (sizeof(Frame) + payload_bytes + kLine - 1) & ~std::uint64_t{kLine - 1};
}

// When a receiver that sleeps is woken: at once, or by ring().
enum class Ring { kNow, kLater };

// The sending end of one ring: puts messages into frames and tells the receiver. The control word
// behind the last frame is always 0, so the receiver needs no tail: a frame and the news of it are
// one cache line. Owns the write position; one thread at a time.
class RingWriter {
 public:
  // The ring of `self` in the receiver's area.
  RingWriter(RingView ring, Doorbell receiver, NodeId self);

  // Puts as much of what is left of a message of `total_bytes` into the ring as fits: small ones
  // whole or not at all, larger ones in pieces (for which it rings at once). True when all of it
  // went. Never waits.
  bool write(Gather& rest, std::uint64_t total_bytes, Ring ring = Ring::kNow);
  // Wakes a receiver that has not taken everything out.
  void ring(Sleepers whom = Sleepers::kAll);

  // After write() found no space, by any thread: whether some was freed since; and the wish to be
  // woken when it is.
  bool space_freed() const { return ring_.control->head.load() != stalled_head_.load(); }
  void want_space() { ring_.control->space_wanted.store(1); }

  // The longest message that travels in one frame.
  static constexpr std::uint64_t longest_whole(std::uint64_t ring_bytes) {
    return ring_bytes / 2 - kLine - sizeof(Frame);
  }

 private:
  // While the receiver keeps up, only so much of the ring is used, which stays in the caches,
  // however long the ring.
  static constexpr std::uint64_t kRewindEvery = 256 << 10;

  bool write_whole(Gather& rest, Ring ring);
  bool write_piece(Gather& rest, std::uint64_t total_bytes);
  bool has_room(std::uint64_t bytes);
  bool wants_rewind(std::uint64_t span);
  void publish(wire::FrameKind kind, std::uint64_t payload_bytes, std::uint64_t span);
  void notify(Ring ring = Ring::kNow);
  Frame& frame_at(std::uint64_t position) const;

  RingView ring_;
  Doorbell receiver_;
  NodeId self_;
  std::uint64_t tail_ = 0;  // bytes put in since the beginning
  std::uint64_t head_ = 0;  // the receiver's, as last read
  std::uint64_t sequence_ = 0;
  std::uint64_t rewind_look_ = kRewindEvery;  // position at which to look whether the ring is empty
  std::atomic<std::uint64_t> stalled_head_{0};
};

}  // namespace terrane::transport::shm
