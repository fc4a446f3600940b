#include "platform/memory_left.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string_view>

namespace terrane::platform {
namespace {

constexpr std::uint64_t kKeepBytes = std::uint64_t{64} << 20;

// The figure of a line like "MemAvailable:   12345 kB", in bytes.
std::optional<std::uint64_t> field(std::string_view text, std::string_view label) {
  std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  at = text.find_first_not_of(' ', at + label.size());
  std::uint64_t kilobytes = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    kilobytes = kilobytes * 10 + static_cast<std::uint64_t>(text[at] - '0');
  }
  return kilobytes * 1024;
}

// What /proc/meminfo says, read into `buffer`; empty when it cannot be read.
std::string_view read_meminfo(char* buffer, std::size_t capacity) {
  int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  ssize_t size = read(fd, buffer, capacity);
  close(fd);
  return size > 0 ? std::string_view(buffer, static_cast<std::size_t>(size)) : std::string_view();
}

}  // namespace

bool memory_left(std::uint64_t bytes) noexcept { return memory_left_bytes() >= bytes; }

std::uint64_t memory_left_bytes() noexcept {
  char buffer[2048];
  std::string_view lines = read_meminfo(buffer, sizeof buffer);
  auto available = field(lines, "MemAvailable:");
  if (!available) return ~std::uint64_t{0};
  std::uint64_t all = *available + field(lines, "SwapFree:").value_or(0);
  return all > kKeepBytes ? all - kKeepBytes : 0;
}

}  // namespace terrane::platform
