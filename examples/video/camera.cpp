#include "camera.h"

#include <cstring>
#include <vector>

namespace video {
namespace {

class CameraSource : public Source {
 public:
  explicit CameraSource(std::unique_ptr<Camera> camera) : camera_(std::move(camera)) {}

  Shape shape() const override { return camera_->shape(); }
  const char* way() const override { return "one copy of Y from the camera's buffer"; }

  Outcome<bool> next(std::uint8_t* frame) override {
    Outcome<Camera::Picture> grabbed = camera_->grab();
    if (!grabbed.ok()) return Failure{grabbed.sentence()};
    const Camera::Picture& picture = grabbed.value();
    if (picture.pixels == nullptr) return false;
    const Shape shape = camera_->shape();
    for (std::uint32_t y = 0; y < shape.height; ++y) {
      const std::uint8_t* from = picture.pixels + y * picture.row_bytes;
      if (picture.step == 1) {
        std::memcpy(frame, from, shape.width);
      } else {
        for (std::uint32_t x = 0; x < shape.width; ++x) frame[x] = from[x * picture.step];
      }
      frame += shape.width;
    }
    return true;
  }

 private:
  std::unique_ptr<Camera> camera_;
};

class FakeCamera : public Camera {
 public:
  explicit FakeCamera(Size size) : size_(size), buffer_(size.shape.bytes() * 2) {}

  Shape shape() const override { return size_.shape; }

  Outcome<Picture> grab() override {
    if (number_ == size_.frames) return Picture{};
    const std::size_t width = size_.shape.width;
    for (std::size_t at = 0; at < size_.shape.bytes(); ++at) {
      const std::size_t x = at % width, y = at / width;
      buffer_[2 * at] = static_cast<std::uint8_t>(((x + number_ * 4) / 32 * 50) ^ (y & 63));
      buffer_[2 * at + 1] = 128;
    }
    ++number_;
    return Picture{buffer_.data(), width * 2, 2};
  }

 private:
  Size size_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Camera> fake_camera(Size size) { return std::make_unique<FakeCamera>(size); }

std::unique_ptr<Source> camera_source(std::unique_ptr<Camera> camera) {
  return std::make_unique<CameraSource>(std::move(camera));
}

}  // namespace video
