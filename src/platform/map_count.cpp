#include "platform/map_count.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace terrane::platform {

std::uint64_t max_map_count() {
  constexpr std::uint64_t kDefault = 65530;
  int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return kDefault;
  char text[32];
  ssize_t size = read(fd, text, sizeof text);
  close(fd);
  std::uint64_t number = kDefault;
  if (size > 0) std::from_chars(text, text + size, number);
  return number;
}

std::uint64_t current_map_count() {
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[4096];
  std::uint64_t lines = 0;
  for (ssize_t size = 0; (size = read(fd, text, sizeof text)) > 0;) {
    lines += static_cast<std::uint64_t>(std::count(text, text + size, '\n'));
  }
  close(fd);
  return lines;
}

}  // namespace terrane::platform
