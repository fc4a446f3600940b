#pragma once

#include <cstdint>

#include "transport/byte_buffer.h"
#include "transport/shm/ring_writer.h"

namespace terrane::transport::shm {

// The receiving end of one ring: turns frames back into messages and checks that none is missing.
// Owns the read position and the buffer that long messages are put together in. One thread at a
// time, next_control() apart.
class RingReader {
 public:
  enum class Found : std::uint8_t { kNothing, kPart, kMessage, kBroken };

  // The ring of one sender in our area; `sender` hears of freed space when it waits for it.
  RingReader(RingView ring, Doorbell sender);

  // Takes the next frame. After kMessage call done() before the next look().
  Found look();
  // Valid until done(); the ring's own bytes where the message came in one frame.
  Bytes message() const { return message_; }
  void done();
  // Gives what was read back to the sender.
  void free_space();
  // A message that was begun will not be finished.
  void drop_partial();

  // Non-zero once there is a frame to look at.
  const std::atomic<std::uint64_t>* next_control() const { return &frame_at(position_).control; }

 private:
  Found look_at(Frame& frame, std::uint64_t control);
  Found begin_long(Bytes payload);
  Found add_piece(Bytes payload);
  void advance(std::uint64_t span);
  Frame& frame_at(std::uint64_t position) const;

  RingView ring_;
  Doorbell sender_;
  std::uint64_t position_ = 0;  // bytes taken out since the beginning
  std::uint64_t freed_ = 0;     // what the sender knows of it
  std::uint64_t sequence_ = 0;
  Bytes message_;
  std::uint64_t message_span_ = 0;  // of the ring that message_ still occupies
  ByteBuffer long_message_;
  std::uint64_t long_bytes_ = 0;  // 0: none is being put together
  std::uint64_t long_filled_ = 0;
};

}  // namespace terrane::transport::shm
