#include <png.h>

#include <cerrno>
#include <cstring>

#include "picture_bytes.h"
#include "picture_file.h"

namespace restore {
namespace {

// Frees what libpng keeps for a picture, however the reading or writing ends.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image_); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  png_image* get() { return &image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_{};
};

std::uint32_t png_format(std::uint32_t channels) {
  return channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
}

Failure damaged_png(const std::string& path, const char* reason) {
  return Failure{path + ": is truncated or damaged (" + reason + "); copy the picture anew"};
}

// The IHDR chunk comes first: width, height, depth. Checked before libpng, which reports a zero
// size as damage.
Outcome<> check_header(const std::string& path, const Bytes& bytes) {
  constexpr std::size_t kHeaderBytes = 8 + 8 + 13;
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data() + 12, "IHDR", 4) != 0) {
    return damaged_png(path, "no header");
  }
  Outcome<> size = check_picture_size(path, png_get_uint_32(bytes.data() + 16),
                                      png_get_uint_32(bytes.data() + 20));
  if (!size.ok()) return size;
  if (bytes[24] == 16) return sixteen_bit_failure(path);
  return success();
}

}  // namespace

Outcome<Image> decode_png(const std::string& path, const Bytes& bytes) {
  Outcome<> header = check_header(path, bytes);
  if (!header.ok()) return Failure{header.sentence()};
  PngImage png;
  if (png_image_begin_read_from_memory(png.get(), bytes.data(), bytes.size()) == 0) {
    return damaged_png(path, png->message);
  }
  const std::uint32_t channels = (png->format & PNG_FORMAT_FLAG_COLOR) != 0 ? 3 : 1;
  png->format = png_format(channels);
  Image image(png->width, png->height, channels);
  const png_color white{255, 255, 255};
  if (png_image_finish_read(png.get(), &white, image.samples.data(), 0, nullptr) == 0) {
    return damaged_png(path, png->message);
  }
  return image;
}

Outcome<> write_png(const std::string& path, const Image& image) {
  PngImage png;
  png->width = image.width;
  png->height = image.height;
  png->format = png_format(image.channels);
  png->flags = PNG_IMAGE_FLAG_FAST;
  errno = 0;
  if (png_image_write_to_file(png.get(), path.c_str(), 0, image.samples.data(), 0, nullptr) != 0) {
    return success();
  }
  const std::string reason = errno != 0 ? std::strerror(errno) : png->message;
  return Failure{path + ": could not be written: " + reason +
                 "; choose a folder that you may write to by --output"};
}

}  // namespace restore
