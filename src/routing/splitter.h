#pragma once

#include <cstddef>
#include <cstring>
#include <optional>

#include "routing/frame.h"

namespace terrane::routing {

// Cuts bytes as they came over a connection into frames. Borrows them.
class Splitter {
 public:
  struct Frame {
    FrameHeader header;
    Bytes payload;
  };

  explicit Splitter(Bytes bytes) : bytes_(bytes) {}

  // The next whole frame; nullopt: what is left is the start of one, or makes no sense.
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
  // Bytes of the frames handed out.
  std::size_t used() const { return used_; }
  // No frame is as long as the next one says.
  bool malformed() const { return malformed_; }

 private:
  Bytes bytes_;
  std::size_t used_ = 0;
  bool malformed_ = false;
};

}  // namespace terrane::routing
