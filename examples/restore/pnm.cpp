#include <cctype>
#include <cstring>
#include <optional>

#include "picture_bytes.h"

namespace restore {
namespace {

// The header of a PNM file: numbers between white space and comments.
class PnmHeader {
 public:
  explicit PnmHeader(const Bytes& bytes) : bytes_(bytes) {}

  std::optional<std::uint64_t> number() {
    skip_space_and_comments();
    if (at_ >= bytes_.size() || std::isdigit(bytes_[at_]) == 0) return std::nullopt;
    std::uint64_t value = 0;
    while (at_ < bytes_.size() && std::isdigit(bytes_[at_]) != 0) {
      value = value * 10 + (bytes_[at_++] - '0');
      if (value > UINT32_MAX) return std::nullopt;
    }
    return value;
  }

  // The samples follow one white-space character after the last number.
  std::optional<std::size_t> samples_start() const {
    if (at_ >= bytes_.size() || std::isspace(bytes_[at_]) == 0) return std::nullopt;
    return at_ + 1;
  }

 private:
  void skip_space_and_comments() {
    bool comment = false;
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#') comment = true;
      if (bytes_[at_] == '\n') comment = false;
      if (!comment && std::isspace(bytes_[at_]) == 0) return;
    }
  }

  const Bytes& bytes_;
  std::size_t at_ = 2;  // after "P5" or "P6"
};

void scale_to_255(Image& image, std::uint64_t maximum) {
  if (maximum == 255) return;
  for (std::uint8_t& sample : image.samples) {
    const std::uint64_t clipped = sample < maximum ? sample : maximum;
    sample = static_cast<std::uint8_t>((clipped * 255 + maximum / 2) / maximum);
  }
}

}  // namespace

Outcome<Image> decode_pnm(const std::string& path, const Bytes& bytes) {
  PnmHeader header(bytes);
  const auto width = header.number();
  const auto height = header.number();
  const auto maximum = header.number();
  const auto start = header.samples_start();
  if (!width || !height || !maximum || !start || *maximum == 0 || *maximum > 65535) {
    return Failure{path + ": its PNM header is damaged; convert the picture anew"};
  }
  Outcome<> size = check_picture_size(path, *width, *height);
  if (!size.ok()) return Failure{size.sentence()};
  if (*maximum > 255) return sixteen_bit_failure(path);

  const std::uint32_t channels = bytes[1] == '6' ? 3 : 1;
  const std::uint64_t wanted = *width * *height * channels;
  const std::uint64_t present = bytes.size() - *start;
  if (present < wanted) {
    return Failure{path + ": is truncated, with " + std::to_string(present) + " of " +
                   std::to_string(wanted) + " bytes of pixels; copy the picture anew"};
  }
  Image image(static_cast<std::uint32_t>(*width), static_cast<std::uint32_t>(*height), channels);
  std::memcpy(image.samples.data(), bytes.data() + *start, wanted);
  scale_to_255(image, *maximum);
  return image;
}

}  // namespace restore
