// Where functions begin and end, by the tables that exceptions are thrown with: compilers make an
// entry for each function of x86-64, and `strip` keeps them.
#include <cstring>

#include "patch/elf_code.h"

namespace terrane::patch {
namespace {

// Reads numbers one behind the other. Behind the end all are 0, and good() is false.
class Reader {
 public:
  Reader(std::span<const std::uint8_t> bytes, std::uint64_t address)
      : bytes_(bytes), address_(address) {}

  bool good() const { return good_; }
  std::uint64_t address() const { return address_ + at_; }
  std::size_t at() const { return at_; }
  void go_to(std::size_t at) { at_ = at; }

  template <typename Number>
  Number take() {
    Number number{};
    if (at_ > bytes_.size() || bytes_.size() - at_ < sizeof number) {
      good_ = false;
      return number;
    }
    std::memcpy(&number, bytes_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  void skip_number() {  // LEB128, with or without a sign
    constexpr std::uint8_t kMore = 0x80;
    while ((take<std::uint8_t>() & kMore) != 0 && good_) {
    }
  }
  const char* text() {
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    while (take<char>() != 0 && good_) {
    }
    return good_ ? begin : "";
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool good_ = true;
};

constexpr std::uint8_t kUnknown = 0xff, kAbsolute = 0, kFormat = 0x0f, kRelative = 0x10;

// How entries with this common part write addresses: from the letters of its augmentation.
std::uint8_t encoding_of(std::span<const std::uint8_t> bytes, std::size_t common) {
  Reader reader(bytes, 0);
  reader.go_to(common);
  bool is_short = reader.take<std::uint32_t>() != 0xffffffffu;
  if (!is_short || reader.take<std::uint32_t>() != 0) return kUnknown;
  auto version = reader.take<std::uint8_t>();
  const char* letters = reader.text();
  if (version != 1 && version != 3) return kUnknown;
  reader.skip_number();  // units of code and of data, and the register of the return address
  reader.skip_number();
  reader.skip_number();
  if (letters[0] == 0) return kAbsolute;
  if (letters[0] != 'z') return kUnknown;
  reader.skip_number();
  for (const char* letter = letters + 1; *letter != 0 && reader.good(); ++letter) {
    if (*letter == 'R') return reader.take<std::uint8_t>();
    if (*letter == 'L') {
      reader.take<std::uint8_t>();
    } else if (*letter == 'P') {
      std::uint8_t how = reader.take<std::uint8_t>() & kFormat;
      bool is_wide = how == kAbsolute || how == 4 || how == 12;
      is_wide ? static_cast<void>(reader.take<std::uint64_t>())
              : static_cast<void>(reader.take<std::uint32_t>());
    } else if (*letter != 'S' && *letter != 'B') {
      return kUnknown;
    }
  }
  return kAbsolute;
}

// False: in a form that compilers of x86-64 do not use.
bool take_range(Reader& reader, std::uint8_t encoding, CodeRange& range) {
  std::uint64_t base = (encoding & 0x70) == kRelative ? reader.address() : 0;
  if (encoding == kUnknown || (encoding & 0x80) != 0) return false;
  std::uint64_t size = 0;
  switch (encoding & kFormat) {
    case kAbsolute:
    case 4:
    case 12:
      range.begin = base + reader.take<std::uint64_t>();
      size = reader.take<std::uint64_t>();
      break;
    case 3:
    case 11:
      range.begin = base + static_cast<std::uint64_t>(std::int64_t{reader.take<std::int32_t>()});
      size = reader.take<std::uint32_t>();
      break;
    default:
      return false;
  }
  range.end = range.begin + size;
  return reader.good() && size > 0 && range.end > range.begin;
}

}  // namespace

std::vector<CodeRange> unwound_functions(std::span<const std::uint8_t> bytes,
                                         std::uint64_t address) {
  std::vector<CodeRange> all;
  Reader reader(bytes, address);
  std::size_t known_common = ~std::size_t{0};
  std::uint8_t encoding = kUnknown;
  for (;;) {
    std::uint64_t size = reader.take<std::uint32_t>();
    if (size == 0xffffffffu) size = reader.take<std::uint64_t>();
    if (!reader.good() || size == 0 || size > bytes.size() - reader.at()) return all;
    std::size_t begin = reader.at();
    auto back = reader.take<std::uint32_t>();
    if (back != 0 && back <= begin) {
      if (begin - back != known_common) encoding = encoding_of(bytes, known_common = begin - back);
      CodeRange range;
      if (take_range(reader, encoding, range)) all.push_back(range);
    }
    reader.go_to(begin + size);
  }
}

}  // namespace terrane::patch
