#pragma once

#include <memory>
#include <string>

#include "frame.h"
#include "outcome.h"

namespace video {

// Makes JPEG pictures of grey frames, made smaller by a whole factor where they are wider than
// `most_width`.
class JpegWriter {
 public:
  virtual ~JpegWriter() = default;
  // The file; empty where the encoder fails.
  virtual std::string write(const std::uint8_t* frame) = 0;
};
Outcome<std::unique_ptr<JpegWriter>> make_jpeg_writer(Shape shape, std::uint32_t most_width);

}  // namespace video
