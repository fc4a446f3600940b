#include "transport/shm/ring_reader.h"

#include <cstring>

namespace terrane::transport::shm {

RingReader::RingReader(RingView ring, Doorbell sender) : ring_(ring), sender_(sender) {}

Frame& RingReader::frame_at(std::uint64_t position) const {
  return *reinterpret_cast<Frame*>(ring_.data + (position & (ring_.bytes - 1)));
}

RingReader::Found RingReader::look() {
  // No sender skips twice before a message: that would keep us here.
  for (int skips = 0; skips < 2; ++skips) {
    Frame& frame = frame_at(position_);
    std::uint64_t control = frame.control.load();
    if (control == 0) return Found::kNothing;
    std::uint64_t to_end = ring_.bytes - (position_ & (ring_.bytes - 1));
    if (frame.sequence != sequence_) return Found::kBroken;
    if (frame_span(wire::frame_payload_bytes(control)) > to_end) return Found::kBroken;
    ++sequence_;
    if (wire::frame_kind(control) != wire::FrameKind::kSkip) return look_at(frame, control);
    advance(to_end);
  }
  return Found::kBroken;
}

RingReader::Found RingReader::look_at(Frame& frame, std::uint64_t control) {
  Bytes payload(frame.payload(), wire::frame_payload_bytes(control));
  wire::FrameKind kind = wire::frame_kind(control);
  if ((kind == wire::FrameKind::kMore) != (long_bytes_ != 0)) return Found::kBroken;
  if (kind == wire::FrameKind::kWhole) {
    message_ = payload;
    message_span_ = frame_span(payload.size());
    return Found::kMessage;
  }
  Found found = Found::kBroken;
  if (kind == wire::FrameKind::kFirst) found = begin_long(payload);
  if (kind == wire::FrameKind::kMore) found = add_piece(payload);
  if (found != Found::kBroken) advance(frame_span(payload.size()));
  return found;
}

RingReader::Found RingReader::begin_long(Bytes payload) {
  if (payload.size() < sizeof long_bytes_) return Found::kBroken;
  std::memcpy(&long_bytes_, payload.data(), sizeof long_bytes_);
  if (long_bytes_ == 0 || !long_message_.reserve_fresh(long_bytes_)) return Found::kBroken;
  long_filled_ = 0;
  return add_piece(payload.subspan(sizeof long_bytes_));
}

RingReader::Found RingReader::add_piece(Bytes payload) {
  if (payload.size() > long_bytes_ - long_filled_) return Found::kBroken;
  std::memcpy(long_message_.data() + long_filled_, payload.data(), payload.size());
  long_filled_ += payload.size();
  if (long_filled_ < long_bytes_) return Found::kPart;
  message_ = Bytes(long_message_.data(), long_bytes_);
  message_span_ = 0;
  return Found::kMessage;
}

void RingReader::done() {
  if (message_span_ != 0) {
    advance(message_span_);
  } else {
    drop_partial();
  }
  message_ = {};
}

void RingReader::drop_partial() {
  long_bytes_ = 0;
  long_message_.trim();
}

void RingReader::advance(std::uint64_t span) {
  position_ += span;
  // Early enough that a sender who streams does not run dry, seldom enough that the line is not
  // passed to and fro.
  if (position_ - freed_ >= ring_.bytes / 4) free_space();
}

void RingReader::free_space() {
  if (position_ == freed_) return;
  freed_ = position_;
  ring_.control->head.store(position_);
  if (ring_.control->space_wanted.load() != 0 && ring_.control->space_wanted.exchange(0) != 0) {
    wake_owner(sender_);
  }
}

}  // namespace terrane::transport::shm
