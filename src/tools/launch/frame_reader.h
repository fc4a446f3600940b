#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrane::tools {

// A frame on a connection: its length (4 bytes), then as many bytes. The largest is a node's card.
inline constexpr std::uint32_t kMaxFrameBytes = (16u << 20) + 1024;

// Appends a frame of these bytes; there must be at most kMaxFrameBytes.
void append_frame(std::vector<std::byte>& out, std::span<const std::byte> payload);

// Cuts what comes over a connection into frames. Holds what has come and no more.
class FrameReader {
 public:
  void add(std::span<const std::byte> bytes);
  // The next whole frame; valid until the next call of add() or next(). nullopt: none yet, or the
  // stream is malformed.
  std::optional<std::span<const std::byte>> next();
  // A frame longer than allowed was announced: nothing after it can be understood.
  bool malformed() const { return malformed_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // of what was not handed out
  bool malformed_ = false;
};

}  // namespace terrane::tools
