#include "tools/launch/host/process_use.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "base/unique_fd.h"

namespace terrane::tools {

// The figures come after the command's name, which may hold anything but ends at the last ')'.
ProcessUse process_use(pid_t pid) {
  ProcessUse use;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  use.at_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
              static_cast<std::uint64_t>(now.tv_nsec);
  std::string path = "/proc/" + std::to_string(pid) + "/stat";
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024];
  ssize_t got = file ? ::read(file.get(), text, sizeof text - 1) : -1;
  if (got <= 0) return use;
  text[got] = '\0';
  const char* after_name = std::strrchr(text, ')');
  unsigned long long user = 0, kernel = 0;
  long pages = 0;
  if (after_name == nullptr ||
      std::sscanf(after_name + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d "
                  "%*u %*u %ld",
                  &user, &kernel, &pages) != 3)
    return use;
  auto hertz = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  use.processor_ns = (user + kernel) * (1'000'000'000 / hertz);
  use.resident_bytes =
      static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return use;
}

}  // namespace terrane::tools
