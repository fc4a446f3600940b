#include "runtime/shmem/settings.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace terrane::runtime::shmem {
namespace {

constexpr double kMostBytes = 0x1p62;

// A variable's name as it was set, and its value; null when neither name is set.
struct Variable {
  std::string name;
  const char* value = nullptr;
};

Variable read(std::string_view name) {
  for (const char* prefix : {"SHMEM_", "SMA_"}) {
    Variable variable{fmt::format("{}{}", prefix, name)};
    variable.value = std::getenv(variable.name.c_str());
    if (variable.value != nullptr) return variable;
  }
  return {};
}

// The power of two that a suffix means, or -1.
int scale(std::string_view suffix) {
  if (suffix.empty()) return 0;
  switch (suffix[0]) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    case 't':
    case 'T':
      return 40;
    default:
      return -1;
  }
}

}  // namespace

base::Result<std::uint64_t> parse_symmetric_size(std::string_view text) {
  const char* last = text.data() + text.size();
  double number = 0;
  auto [end, bad] = std::from_chars(text.data(), last, number);
  int shift = scale({end, static_cast<std::size_t>(last - end)});
  double bytes = std::ceil(std::ldexp(number, shift));
  bool valid = bad == std::errc() && shift >= 0 && std::isfinite(number) && number >= 0;
  if (!valid) return base::error("'{}' is not a size; write one like 4096, 512k, 1.5g", text);
  if (bytes > kMostBytes) return base::error("'{}' is more than any machine has", text);
  return static_cast<std::uint64_t>(bytes);
}

base::Result<Settings> read_settings() {
  Settings settings;
  Variable size = read("SYMMETRIC_SIZE");
  if (size.value != nullptr && *size.value != '\0') {
    auto bytes = parse_symmetric_size(size.value);
    if (!bytes) return base::error("{}: {}", size.name, bytes.error().message);
    settings.symmetric_bytes = bytes.value();
  }
  settings.tell_version = read("VERSION").value != nullptr;
  settings.tell_variables = read("INFO").value != nullptr;
  return settings;
}

std::string describe_variables() {
  return "SHMEM_VERSION         any value: PE 0 prints the library's version at start\n"
         "SHMEM_INFO            any value: PE 0 prints this text at start\n"
         "SHMEM_SYMMETRIC_SIZE  bytes (with k, m, g or t: 512k, 1.5g) that the symmetric heap of a "
         "PE can grow to at least; without it, as far as the memory reaches\n"
         "SHMEM_DEBUG           any value: every call and its arguments are checked\n"
         "SMA_VERSION, SMA_INFO, SMA_SYMMETRIC_SIZE, SMA_DEBUG  the same, deprecated\n";
}

}  // namespace terrane::runtime::shmem
