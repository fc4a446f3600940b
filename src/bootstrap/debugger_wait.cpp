#include "bootstrap/debugger_wait.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string_view>

#include "base/log.h"
#include "bootstrap/this_host.h"

namespace terrane::bootstrap {
namespace {

bool has_debugger() {
  char text[4096];
  int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : ::read(fd, text, sizeof text);
  if (fd >= 0) ::close(fd);
  std::string_view status(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  constexpr std::string_view kTracer = "\nTracerPid:\t";
  std::size_t at = status.find(kTracer);
  return at != status.npos && status.substr(at + kTracer.size(), 1) != "0";
}

}  // namespace

// A stopped process (SIGSTOP) would do as well, but would show its debugger that signal, and stay
// stopped after it.
void wait_for_debugger() {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 20'000'000};
  // Where the kernel lets only ancestors attach (Yama), a debugger of this user's is let, too.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  while (!has_debugger()) ::nanosleep(&kPause, nullptr);
}

base::Result<> wait_for_debugger_if_asked(std::uint32_t node) {
  const char* asked = std::getenv("TERRANE_DEBUG");
  if (asked == nullptr || *asked == '\0') return {};
  if (std::string_view(asked) != "wait") {
    return base::error(
        "TERRANE_DEBUG is \"{}\"; under mpirun and srun there is TERRANE_DEBUG=wait alone (terrane "
        "run --debug=gdb opens debuggers)",
        asked);
  }
  base::log("node {} (process {} on {}) waits for a debugger: gdb -p {}", node, ::getpid(),
            this_hosts_name(), ::getpid());
  wait_for_debugger();
  return {};
}

}  // namespace terrane::bootstrap
