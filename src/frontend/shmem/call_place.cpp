#include "frontend/shmem/call_place.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <terrane/shmem/fast.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <string_view>

#include "frontend/shmem/checks.h"
#include "platform/command_output.h"

namespace terrane::frontend::shmem {

namespace {

constexpr int kMostFrames = 32;

// A file that the loader has mapped, by its path. It calls the program what the program was started
// as, which may be anything.
std::string path_of(const char* name) {
  if (name[0] == '/') return name;
  char path[PATH_MAX];
  ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string(name);
}

// The innermost line of addr2line's for one address that is in the program, not in what it inlined
// of ours: "file.c:12", or nothing.
std::string line_in(std::string_view output) {
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

// Of each offset of one file. addr2line -a writes a line "0x..." before those of each.
std::vector<std::string> lines_in(const std::string& file,
                                  const std::vector<std::string>& offsets) {
  std::vector<const char*> command = {"addr2line", "-a", "-i", "-e", file.c_str()};
  for (const std::string& offset : offsets) command.push_back(offset.c_str());
  command.push_back(nullptr);
  std::string output = platform::command_output(command.data(), environ);
  std::vector<std::string> lines;
  for (std::size_t from = output.find("0x"); from != std::string::npos;) {
    std::size_t begin = output.find('\n', from);
    if (begin == std::string::npos) break;
    std::size_t end = output.find("\n0x", begin);
    lines.push_back(line_in(std::string_view(output).substr(begin + 1, end - begin)));
    from = end == std::string::npos ? end : end + 1;
  }
  lines.resize(offsets.size());
  return lines;
}

}  // namespace

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

std::vector<std::string> lines_of(std::span<const Spot> spots) {
  std::map<std::string, std::vector<std::size_t>> of_file;
  for (std::size_t i = 0; i < spots.size(); ++i)
    if (!spots[i].file.empty()) of_file[spots[i].file].push_back(i);
  std::vector<std::string> all(spots.size());
  for (const auto& [file, which] : of_file) {
    std::vector<std::string> offsets;
    for (std::size_t i : which) offsets.push_back(fmt::format("{:#x}", spots[i].offset));
    std::vector<std::string> lines = lines_in(file, offsets);
    for (std::size_t n = 0; n < which.size(); ++n)
      all[which[n]] = !lines[n].empty()
                          ? lines[n]
                          : fmt::format("{}+{}", file.substr(file.rfind('/') + 1), offsets[n]);
  }
  return all;
}

std::string place_of_call() {
  if (!checks_calls()) return {};
  Spot spot = spot_of_call();
  std::string line = lines_of(std::span(&spot, 1)).front();
  return line.empty() ? line : fmt::format(" (at {})", line);
}

}  // namespace terrane::frontend::shmem
