#include "frontend/shmem/call_place.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <terrane/shmem/fast.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "frontend/shmem/checks.h"

namespace terrane::frontend::shmem {

namespace {

constexpr int kMostFrames = 32;

// An instruction of the program or of one of its libraries.
struct Spot {
  std::string file;
  std::uintptr_t offset = 0;  // as addr2line counts
};

// The innermost call that was not made by this library.
Spot spot_of_call() {
  Dl_info own{}, info{};
  ::dladdr(reinterpret_cast<void*>(&place_of_call), &own);
  void* frames[kMostFrames];
  int count = ::backtrace(frames, kMostFrames);
  for (int i = 0; i < count; ++i) {
    // A return address; the call stands before it.
    auto address = reinterpret_cast<std::uintptr_t>(frames[i]) - 1;
    if (::dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) break;
    if (info.dli_fbase == own.dli_fbase) continue;
    auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    // A program that is not position-independent keeps its addresses.
    return {info.dli_fname, address < (std::uintptr_t{1} << 32) ? address : address - base};
  }
  return {};
}

// What a command writes, or nothing.
std::string output_of(const char* const* command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  int failed = ::posix_spawnp(&child, command[0], &actions, nullptr,
                              const_cast<char* const*>(command), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string output;
  char part[512];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;) {
    output.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (failed == 0) ::waitpid(child, nullptr, 0);
  return output;
}

}  // namespace

std::string place_of_call() {
  if (!checks_calls()) return {};
  Spot spot = spot_of_call();
  if (spot.file.empty()) return {};
  std::string offset = fmt::format("{:#x}", spot.offset);
  const char* command[] = {"addr2line", "-s", "-e", spot.file.c_str(), offset.c_str(), nullptr};
  std::string line = output_of(command);
  line.resize(std::min(line.find_first_of(" \n"), line.size()));
  if (line.empty() || line.starts_with('?') || line.ends_with('?') || line.ends_with(":0")) {
    std::string_view name(spot.file);
    return fmt::format(" (at {}+{})", name.substr(name.rfind('/') + 1), offset);
  }
  return fmt::format(" (at {})", line);
}

}  // namespace terrane::frontend::shmem
