#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "source.h"
#include "support/number.h"

namespace video {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

constexpr std::size_t kMostHeaderBytes = 256;

// A line of the file without its end; empty where there is none of a sensible length.
std::string read_line(std::FILE* file) {
  std::string line;
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) {
    if (byte == '\n') return line;
    line += static_cast<char>(byte);
    if (line.size() > kMostHeaderBytes) break;
  }
  return {};
}

// The bytes of the planes behind Y; none for a name that has another depth or layout.
Outcome<std::size_t> chroma_bytes(const std::string& path, const std::string& layout, Shape shape) {
  const std::size_t half = (shape.width + 1) / 2, half_rows = (shape.height + 1) / 2;
  if (layout == "mono") return std::size_t{0};
  if (layout == "420" || layout == "420jpeg" || layout == "420paldv" || layout == "420mpeg2")
    return 2 * half * half_rows;
  if (layout == "422") return 2 * half * shape.height;
  if (layout == "444") return 2 * shape.bytes();
  return Failure{"'" + path + "' has the layout " + layout +
                 "; give 8 bits a pixel: ffmpeg -i FILE -pix_fmt gray OUT.y4m"};
}

// The planes of a YUV4MPEG2 file (mjpegtools' yuv4mpeg(5)): Y is read into the buffer itself.
class Y4m : public Source {
 public:
  Y4m(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}

  Shape shape() const override { return shape_; }
  const char* way() const override { return "read in place"; }

  Outcome<> read_header() {
    std::istringstream header(read_line(file_.get()));
    std::string word, layout = "420";
    header >> word;
    if (word != "YUV4MPEG2") return Failure{"'" + path_ + "' is no Y4M file"};
    while (header >> word) {
      const std::string_view value = std::string_view(word).substr(1);
      if (word[0] == 'W' && !parse_side(value, shape_.width)) return bad_size(word);
      if (word[0] == 'H' && !parse_side(value, shape_.height)) return bad_size(word);
      if (word[0] == 'C') layout = value;
    }
    if (shape_.bytes() == 0) return Failure{"'" + path_ + "' tells no width and height"};
    Outcome<std::size_t> behind = chroma_bytes(path_, layout, shape_);
    if (!behind.ok()) return Failure{behind.sentence()};
    behind_ = behind.value();
    return success();
  }

  Outcome<bool> next(std::uint8_t* frame) override {
    const int byte = std::fgetc(file_.get());
    if (byte == EOF) return false;
    std::ungetc(byte, file_.get());
    if (!read_line(file_.get()).starts_with("FRAME")) {
      return Failure{"'" + path_ + "' is corrupt: no FRAME at picture " + std::to_string(number_)};
    }
    if (std::fread(frame, 1, shape_.bytes(), file_.get()) != shape_.bytes() || !skip(behind_)) {
      return Failure{"'" + path_ + "' is truncated in picture " + std::to_string(number_)};
    }
    ++number_;
    return true;
  }

 private:
  static bool parse_side(std::string_view text, std::uint32_t& side) {
    return example::parse_number(text, 1u, kMostPixelsOfASide, side);
  }
  Failure bad_size(const std::string& word) const {
    return Failure{"'" + path_ + "' tells the size " + word + "; 1 to 16384 pixels are possible"};
  }
  bool skip(std::size_t bytes) {
    char rest[4096];
    while (bytes > 0) {
      const std::size_t part = bytes < sizeof rest ? bytes : sizeof rest;
      if (std::fread(rest, 1, part, file_.get()) != part) return false;
      bytes -= part;
    }
    return true;
  }

  std::string path_;
  File file_;
  Shape shape_;
  std::size_t behind_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace

Outcome<std::unique_ptr<Source>> open_y4m(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return Failure{"'" + path + "' cannot be read: " + std::strerror(errno)};
  auto source = std::make_unique<Y4m>(path, std::move(file));
  Outcome<> header = source->read_header();
  if (!header.ok()) return Failure{header.sentence()};
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace video
