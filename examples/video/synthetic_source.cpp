#include <cstring>
#include <vector>

#include "source.h"

namespace video {
namespace {

// A camera that pans over a picture of shapes and grain: each frame is another window of it.
class Synthetic : public Source {
 public:
  explicit Synthetic(Size size)
      : size_(size), scene_{size.shape.width + kPan, size.shape.height + kPan} {
    picture_.resize(scene_.bytes());
    std::uint32_t grain = 12345;
    for (std::uint32_t y = 0; y < scene_.height; ++y) {
      for (std::uint32_t x = 0; x < scene_.width; ++x) {
        grain = grain * 1664525 + 1013904223;
        const std::uint32_t tile = ((x / 48) ^ (y / 32)) * 37;
        const std::uint32_t slope = (x * 5 + y * 3) / 16;
        picture_[std::size_t{y} * scene_.width + x] =
            static_cast<std::uint8_t>(tile + slope + (grain >> 29));
      }
    }
  }

  Shape shape() const override { return size_.shape; }
  std::uint64_t frames() const override { return size_.frames; }
  const char* way() const override { return "rendered in place"; }

  Outcome<bool> next(std::uint8_t* frame) override {
    if (number_ == size_.frames) return false;
    const std::size_t right = number_ % kPan, down = (number_ * 3) % kPan;
    ++number_;
    const std::uint8_t* from = picture_.data() + down * scene_.width + right;
    for (std::uint32_t y = 0; y < size_.shape.height; ++y) {
      std::memcpy(frame, from, size_.shape.width);
      frame += size_.shape.width;
      from += scene_.width;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kPan = 61;

  Size size_;
  Shape scene_;
  std::vector<std::uint8_t> picture_;
  std::uint64_t number_ = 0;
};

}  // namespace

Outcome<std::unique_ptr<Source>> open_synthetic(const std::string& text) {
  Outcome<Size> size = parse_size(text);
  if (!size.ok()) return Failure{size.sentence()};
  return std::unique_ptr<Source>(std::make_unique<Synthetic>(size.value()));
}

}  // namespace video
