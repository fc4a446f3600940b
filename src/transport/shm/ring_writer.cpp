#include "transport/shm/ring_writer.h"

#include <algorithm>
#include <cstring>

namespace terrane::transport::shm {
namespace {

// Pieces of a long message: small enough that the receiver copies one out while the next comes in.
std::uint64_t longest_piece_span(std::uint64_t ring_bytes) {
  return std::min<std::uint64_t>(ring_bytes / 8, 32 << 10);
}

}  // namespace

RingWriter::RingWriter(RingView ring, Doorbell receiver, NodeId self)
    : ring_(ring), receiver_(receiver), self_(self) {}

Frame& RingWriter::frame_at(std::uint64_t position) const {
  return *reinterpret_cast<Frame*>(ring_.data + (position & (ring_.bytes - 1)));
}

bool RingWriter::write(Gather& rest, std::uint64_t total_bytes, Ring ring) {
  if (total_bytes <= longest_whole(ring_.bytes)) return write_whole(rest, ring);
  while (rest.left() != 0) {
    if (!write_piece(rest, total_bytes)) return false;
  }
  return true;
}

// Room for `bytes` and for the zero word behind them.
bool RingWriter::has_room(std::uint64_t bytes) {
  if (bytes + kLine <= ring_.bytes - (tail_ - head_)) return true;
  head_ = ring_.control->head.load();
  if (bytes + kLine <= ring_.bytes - (tail_ - head_)) return true;
  stalled_head_.store(head_);
  return false;
}

// Whether everything was taken out and a frame of `span` may go to the start of the ring, short of
// its end.
bool RingWriter::wants_rewind(std::uint64_t span) {
  if (tail_ < rewind_look_) return false;
  rewind_look_ = tail_ + kRewindEvery;
  head_ = ring_.control->head.load();
  return head_ == tail_ && (tail_ & (ring_.bytes - 1)) >= span + kLine;
}

void RingWriter::ring(Sleepers whom) {
  if (ring_.control->head.load() != tail_) wake_owner(receiver_, whom);
}

bool RingWriter::write_whole(Gather& rest, Ring ring) {
  std::uint64_t payload_bytes = rest.left();
  std::uint64_t span = frame_span(payload_bytes);
  std::uint64_t to_end = ring_.bytes - (tail_ & (ring_.bytes - 1));
  std::uint64_t skipped = to_end < span || wants_rewind(span) ? to_end : 0;
  if (!has_room(skipped + span)) return false;
  if (skipped != 0) publish(wire::FrameKind::kSkip, 0, skipped);
  rest.copy_to(frame_at(tail_).payload(), payload_bytes);
  publish(wire::FrameKind::kWhole, payload_bytes, span);
  notify(ring);
  return true;
}

bool RingWriter::write_piece(Gather& rest, std::uint64_t total_bytes) {
  bool first = rest.left() == total_bytes;
  std::uint64_t prefix = first ? sizeof total_bytes : 0;
  std::uint64_t to_end = ring_.bytes - (tail_ & (ring_.bytes - 1));
  std::uint64_t span =
      std::min({to_end, longest_piece_span(ring_.bytes), frame_span(prefix + rest.left())});
  if (!has_room(span)) return false;
  std::byte* place = frame_at(tail_).payload();
  if (first) std::memcpy(place, &total_bytes, sizeof total_bytes);
  std::uint64_t payload_bytes = std::min(prefix + rest.left(), span - sizeof(Frame));
  rest.copy_to(place + prefix, payload_bytes - prefix);
  publish(first ? wire::FrameKind::kFirst : wire::FrameKind::kMore, payload_bytes, span);
  notify();
  return true;
}

void RingWriter::publish(wire::FrameKind kind, std::uint64_t payload_bytes, std::uint64_t span) {
  Frame& frame = frame_at(tail_);
  frame_at(tail_ + span).control.store(0, std::memory_order_relaxed);
  frame.sequence = sequence_++;
  // seq_cst: either the receiver sees the frame before it sleeps or stops watching, or notify()
  // sees that it did.
  frame.control.exchange(wire::frame_control(kind, static_cast<std::uint32_t>(payload_bytes)));
  tail_ += span;
  if ((tail_ & (ring_.bytes - 1)) == 0) rewind_look_ = tail_ + kRewindEvery;
}

void RingWriter::notify(Ring ring) {
  if (ring_.control->watched.load() == 0) receiver_.control->arrivals.set(self_);
  if (ring == Ring::kNow) wake_owner(receiver_);
}

}  // namespace terrane::transport::shm
