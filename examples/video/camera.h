#pragma once

#include <memory>
#include <string>

#include "source.h"

namespace video {

// A device that fills buffers of its own with pictures.
class Camera {
 public:
  virtual ~Camera() = default;

  // A picture in a buffer of the camera, good until the next grab(). The grey value of the pixel
  // (x, y) is pixels[y * row_bytes + x * step].
  struct Picture {
    const std::uint8_t* pixels = nullptr;  // null: the camera has ended
    std::size_t row_bytes = 0;
    std::size_t step = 1;  // 2: YUYV
  };

  virtual Shape shape() const = 0;
  virtual Outcome<Picture> grab() = 0;
};

// A Video4Linux2 device that captures GREY, YUYV, NV12 or YU12.
Outcome<std::unique_ptr<Camera>> open_camera(const std::string& device);

// YUYV pictures of moving bars, so many; for tests.
std::unique_ptr<Camera> fake_camera(Size size);

// The camera's pictures as a source; the grey values are copied once.
std::unique_ptr<Source> camera_source(std::unique_ptr<Camera> camera);

}  // namespace video
