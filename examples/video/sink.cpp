#include "sink.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace video {
namespace {

class Nothing : public Sink {
 public:
  Outcome<> put(const std::uint8_t*) override { return success(); }
};

class Raw : public Sink {
 public:
  Raw(std::string path, std::FILE* file, Shape shape, bool y4m)
      : path_(std::move(path)), file_(file), shape_(shape), y4m_(y4m) {
    if (y4m_) {
      std::fprintf(file_, "YUV4MPEG2 W%u H%u F25:1 Ip A1:1 Cmono\n", shape.width, shape.height);
    }
  }
  ~Raw() override {
    if (file_ != nullptr) std::fclose(file_);
  }

  Outcome<> put(const std::uint8_t* frame) override {
    if ((y4m_ && std::fputs("FRAME\n", file_) == EOF) ||
        std::fwrite(frame, 1, shape_.bytes(), file_) != shape_.bytes()) {
      return failed();
    }
    return success();
  }
  Outcome<> close() override {
    std::FILE* file = std::exchange(file_, nullptr);
    return std::fclose(file) == 0 ? success() : failed();
  }

 private:
  Failure failed() const {
    return Failure{"'" + path_ + "' could not be written: " + std::strerror(errno)};
  }
  std::string path_;
  std::FILE* file_;
  Shape shape_;
  bool y4m_;
};

}  // namespace

Outcome<std::unique_ptr<Sink>> open_raw(const std::string& path, Shape shape, bool y4m) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return Failure{"'" + path + "' could not be made: " + std::strerror(errno)};
  }
  return std::unique_ptr<Sink>(std::make_unique<Raw>(path, file, shape, y4m));
}

Outcome<std::unique_ptr<Sink>> open_sink(const std::string& output, Shape shape) {
  if (output.empty()) return std::unique_ptr<Sink>(std::make_unique<Nothing>());
  if (output.ends_with(".y4m")) return open_raw(output, shape, true);
  if (output.ends_with(".gray")) return open_raw(output, shape, false);
  return open_encoder(output, shape);
}

}  // namespace video
