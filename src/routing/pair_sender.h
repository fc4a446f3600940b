#pragma once

#include <cstdint>
#include <vector>

#include "routing/frame.h"
#include "routing/instrument.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

// The frames of one pair that its receiver has not taken yet, encoded, in one buffer. Positions in
// the pair's stream: taken <= sent <= end.
class PairSender {
 public:
  // Appends a message made of two parts, in frames with at most `frame_payload` bytes (a multiple
  // of 8) of payload.
  void append(Address from, Address to, std::uint16_t tag, Bytes head, Bytes tail,
              std::uint32_t frame_payload);
  void append_bye(Address from, Address to);

  // Whether there is an unsent frame, and it ends at most `window` bytes behind the taken position.
  bool may_send(std::uint64_t window) const;
  // The next unsent frame; there must be one. Valid until the sender is changed.
  Bytes next() const;
  void advance();
  // The receiver has taken everything before the position. False: the position was not sent, or is
  // inside a frame.
  bool take(std::uint64_t position);
  // All frames that were not taken are to be sent again.
  void rewind() { sent_ = taken_; }
  // Forgets the frames that were not taken.
  void drop();

  bool empty() const { return taken_ == end_; }
  std::uint64_t taken() const { return taken_; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t end() const { return end_; }

 private:
  static constexpr std::size_t kKeptCapacity = 1 << 20;  // of an empty buffer, in bytes

  const std::byte* at(std::uint64_t position) const {
    return buffer_.data() + begin_ + (position - taken_);
  }
  std::uint64_t bytes_at(std::uint64_t position) const;  // size of the frame there
  void give_back();

  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // offset in buffer_ of the first frame that was not taken
  std::uint64_t taken_ = 0, sent_ = 0, end_ = 0;
  std::uint64_t most_sent_ = 0;  // the largest sent_; a rewind does not lower it
};

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
