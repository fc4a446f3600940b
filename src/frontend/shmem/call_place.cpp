#include "frontend/shmem/call_place.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <terrane/shmem/fast.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string_view>

#include "frontend/shmem/checks.h"
#include "platform/command_output.h"

namespace terrane::frontend::shmem {

namespace {

constexpr int kMostFrames = 32;

// An instruction of the program or of one of its libraries.
struct Spot {
  std::string file;
  std::uintptr_t offset = 0;  // as addr2line counts
};

// A file that the loader has mapped, by its path. It calls the program what the program was started
// as, which may be anything.
std::string path_of(const char* name) {
  if (name[0] == '/') return name;
  char path[PATH_MAX];
  ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string(name);
}

// The innermost call that was not made by this library. What is above this library's own frames
// is backtrace() itself, where a tool has put its own in front.
Spot spot_of_call() {
  Dl_info own{}, info{};
  ::dladdr(reinterpret_cast<void*>(&place_of_call), &own);
  void* frames[kMostFrames];
  int count = ::backtrace(frames, kMostFrames);
  bool in_here = false;
  for (int i = 0; i < count; ++i) {
    // A return address; the call is before it.
    auto address = reinterpret_cast<std::uintptr_t>(frames[i]) - 1;
    if (::dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) break;
    bool is_own = info.dli_fbase == own.dli_fbase;
    in_here = in_here || is_own;
    if (is_own || !in_here) continue;
    auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    // A program that is not position-independent keeps its addresses.
    return {path_of(info.dli_fname),
            address < (std::uintptr_t{1} << 32) ? address : address - base};
  }
  return {};
}

// The innermost line of addr2line's that is in the program, not in what it inlined of ours:
// "file.c:12", or nothing.
std::string line_of(const Spot& spot, const std::string& offset) {
  const char* command[] = {"addr2line", "-i", "-e", spot.file.c_str(), offset.c_str(), nullptr};
  std::string output = platform::command_output(command, environ);
  for (std::string_view rest(output); !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    line = line.substr(0, line.find(' '));  // "(discriminator 2)" may follow
    bool known = !line.starts_with('?') && !line.ends_with('?') && !line.ends_with(":0");
    bool ours = line.find("/terrane/shmem/") != std::string_view::npos;
    std::string_view name = line.substr(line.rfind('/') + 1);
    if (known && !ours && !name.starts_with(':')) return std::string(name);
  }
  return {};
}

}  // namespace

std::string place_of_call() {
  if (!checks_calls()) return {};
  Spot spot = spot_of_call();
  if (spot.file.empty()) return {};
  std::string offset = fmt::format("{:#x}", spot.offset);
  std::string line = line_of(spot, offset);
  if (!line.empty()) return fmt::format(" (at {})", line);
  return fmt::format(" (at {}+{})", spot.file.substr(spot.file.rfind('/') + 1), offset);
}

}  // namespace terrane::frontend::shmem
