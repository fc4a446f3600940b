#include "source.h"

#include <string_view>

#include "camera.h"
#include "support/number.h"

namespace video {

Outcome<Size> parse_size(const std::string& text) {
  const std::string_view all = text;
  const std::size_t cross = all.find('x'), colon = all.find(':');
  Size size;
  if (cross == std::string_view::npos || colon == std::string_view::npos || cross > colon ||
      !example::parse_number(all.substr(0, cross), 1u, kMostPixelsOfASide, size.shape.width) ||
      !example::parse_number(all.substr(cross + 1, colon - cross - 1), 1u, kMostPixelsOfASide,
                             size.shape.height) ||
      !example::parse_number<std::uint64_t>(all.substr(colon + 1), 1, 1'000'000'000, size.frames)) {
    return Failure{"'" + text + "' is no size; give WIDTHxHEIGHT:FRAMES with at most " +
                   std::to_string(kMostPixelsOfASide) + " pixels a side, such as 1920x1080:300"};
  }
  return size;
}

Outcome<std::unique_ptr<Source>> open_source(const std::string& input) {
  const auto rest = [&input](std::string_view prefix) { return input.substr(prefix.size()); };
  if (input.starts_with("synthetic:")) return open_synthetic(rest("synthetic:"));
  if (input.starts_with("fake-camera:")) {
    Outcome<Size> size = parse_size(rest("fake-camera:"));
    if (!size.ok()) return Failure{size.sentence()};
    return camera_source(fake_camera(size.value()));
  }
  if (input.starts_with("/dev/")) {
    Outcome<std::unique_ptr<Camera>> camera = open_camera(input);
    if (!camera.ok()) return Failure{camera.sentence()};
    return camera_source(std::move(camera.value()));
  }
  if (input.ends_with(".y4m")) return open_y4m(input);
  return open_coded(input);
}

}  // namespace video
