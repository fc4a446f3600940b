#include "tools/launch/frame_reader.h"

#include <cstring>

#include "base/check.h"

namespace terrane::tools {

void append_frame(std::vector<std::byte>& out, std::span<const std::byte> payload) {
  TERRANE_CHECK(payload.size() <= kMaxFrameBytes, "a frame has a bounded size");
  auto size = static_cast<std::uint32_t>(payload.size());
  std::size_t before = out.size();
  out.resize(before + sizeof size + payload.size());
  std::memcpy(out.data() + before, &size, sizeof size);
  if (size != 0) std::memcpy(out.data() + before + sizeof size, payload.data(), size);
}

void FrameReader::add(std::span<const std::byte> bytes) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<std::span<const std::byte>> FrameReader::next() {
  std::uint32_t size = 0;
  if (malformed_ || bytes_.size() - begin_ < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes_.data() + begin_, sizeof size);
  if (size > kMaxFrameBytes) {
    malformed_ = true;
    return std::nullopt;
  }
  if (bytes_.size() - begin_ - sizeof size < size) return std::nullopt;
  auto frame = std::span<const std::byte>(bytes_).subspan(begin_ + sizeof size, size);
  begin_ += sizeof size + size;
  return frame;
}

}  // namespace terrane::tools
