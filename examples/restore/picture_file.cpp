#include "picture_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "picture_bytes.h"

namespace restore {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

bool starts_with(const Bytes& bytes, const char* magic, std::size_t length) {
  return bytes.size() >= length && std::memcmp(bytes.data(), magic, length) == 0;
}

Outcome<Bytes> read_bytes(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return Failure{path + ": " + std::strerror(errno) + "; check the name of the picture"};
  }
  if (!S_ISREG(status.st_mode)) return Failure{path + ": is not a file; name a picture"};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size == 0) return Failure{path + ": the file is empty; name a PNG, PPM or PGM picture"};
  if (size > kMaxFileBytes) {
    return Failure{path + ": the file is larger than 1 GiB; scale the picture down"};
  }
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return Failure{path + ": " + std::strerror(errno) + "; make the picture readable"};
  Bytes bytes(size);
  if (std::fread(bytes.data(), 1, size, file.get()) != size) {
    return Failure{path + ": could not be read to its end; copy the picture anew"};
  }
  return bytes;
}

}  // namespace

Outcome<> check_picture_size(const std::string& path, std::uint64_t width, std::uint64_t height) {
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width == 0 || height == 0) {
    return Failure{path + ": is " + size + "; name a picture that has some"};
  }
  if (width < 2 || height < 2) {
    return Failure{path + ": is " + size + "; at least 2 x 2 are needed"};
  }
  if (width > kMaxPixels || height > kMaxPixels || width * height > kMaxPixels) {
    return Failure{path + ": is " + size + ", more than " + std::to_string(kMaxPixels >> 20) +
                   " Mi pixels; scale the picture down"};
  }
  return success();
}

Failure sixteen_bit_failure(const std::string& path) {
  return Failure{path + ": has 16 bits a sample; convert the picture to 8 bits"};
}

Outcome<Image> read_picture(const std::string& path) {
  Outcome<Bytes> bytes = read_bytes(path);
  if (!bytes.ok()) return Failure{bytes.sentence()};
  const Bytes& content = bytes.value();
  if (starts_with(content, "\x89PNG\r\n\x1a\n", 8)) return decode_png(path, content);
  if (starts_with(content, "P5", 2) || starts_with(content, "P6", 2)) {
    return decode_pnm(path, content);
  }
  return Failure{path +
                 ": is no PNG, binary PPM or binary PGM picture; convert it to one of these"};
}

}  // namespace restore
