#pragma once

#include <cstddef>
#include <cstring>
#include <optional>

#include "routing/frame.h"

namespace terrane::routing {

// Splits the bytes that a connection received into frames. Does not own the bytes.
class Splitter {
 public:
  struct Frame {
    FrameHeader header;
    Bytes payload;
  };

  explicit Splitter(Bytes bytes) : bytes_(bytes) {}

  // The next whole frame. nullopt: the remaining bytes are the start of a frame, or malformed.
  std::optional<Frame> next() {
    Frame frame;
    Bytes rest = bytes_.subspan(used_);
    if (malformed_ || rest.size() < sizeof frame.header) return std::nullopt;
    std::memcpy(&frame.header, rest.data(), sizeof frame.header);
    malformed_ = frame.header.payload_bytes > kMaxPayloadBytes;
    std::uint64_t bytes = malformed_ ? 0 : frame_bytes(frame.header.payload_bytes);
    if (malformed_ || rest.size() < bytes) return std::nullopt;
    frame.payload = rest.subspan(sizeof frame.header, frame.header.payload_bytes);
    used_ += static_cast<std::size_t>(bytes);
    return frame;
  }
  // Bytes of the frames that next() has returned.
  std::size_t used() const { return used_; }
  // The header of the next frame has a length that no frame may have.
  bool malformed() const { return malformed_; }

 private:
  Bytes bytes_;
  std::size_t used_ = 0;
  bool malformed_ = false;
};

}  // namespace terrane::routing
