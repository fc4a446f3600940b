#pragma once

#include <memory>
#include <string>

#include "frame.h"
#include "outcome.h"

namespace video {

// Gives the grey pictures of a video, one after the other.
class Source {
 public:
  virtual ~Source() = default;

  virtual Shape shape() const = 0;
  // The bytes of a buffer for next(): the picture's, and what a decoder writes behind them.
  virtual std::size_t room() const { return shape().bytes(); }
  // Writes the next picture to `frame`, whose first shape().bytes() bytes are it; false: there is
  // no other one. `frame` is aligned to 64 bytes.
  virtual Outcome<bool> next(std::uint8_t* frame) = 0;
  // How many pictures there are; 0: not known.
  virtual std::uint64_t frames() const { return 0; }
  // How the picture comes to the buffer, for the report: "decoded in place", "one copy of Y".
  virtual const char* way() const = 0;
};

// `input`: synthetic:WIDTHxHEIGHT:FRAMES, a camera (/dev/video0, fake-camera:WIDTHxHEIGHT:FRAMES),
// a Y4M file, or with libavformat any video.
Outcome<std::unique_ptr<Source>> open_source(const std::string& input);

// What open_source chooses from.
Outcome<std::unique_ptr<Source>> open_synthetic(const std::string& size);
Outcome<std::unique_ptr<Source>> open_y4m(const std::string& path);
Outcome<std::unique_ptr<Source>> open_coded(const std::string& path);

// The largest picture: a frame is the unit of every buffer.
inline constexpr std::uint32_t kMostPixelsOfASide = 16384;

// "WIDTHxHEIGHT:FRAMES".
struct Size {
  Shape shape;
  std::uint64_t frames = 0;
};
Outcome<Size> parse_size(const std::string& text);

}  // namespace video
