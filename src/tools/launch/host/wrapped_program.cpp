#include "tools/launch/host/wrapped_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "tools/launch/exit_codes.h"

namespace terrane::tools {
namespace {

// They change the process, or wait for it, and hand their environment on.
constexpr std::string_view kWrappers[] = {"env",     "nice",    "taskset", "stdbuf",
                                          "timeout", "nohup",   "ionice",  "numactl",
                                          "chrt",    "prlimit", "setarch", "linux64"};
// They look at one process, or are another user: each node would have one.
constexpr std::string_view kOutside[] = {
    "time", "strace", "ltrace",  "perf",   "valgrind", "gdb",    "rr",      "sudo",
    "doas", "setsid", "unshare", "chroot", "xargs",    "script", "nsenter", "catchsegv"};

template <std::size_t kCount>
bool is_in(const std::string_view (&list)[kCount], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool hides_environment(std::span<const std::string> options) {
  return std::any_of(options.begin(), options.end(), [](const std::string& word) {
    return word == "-" || word == "-i" || word == "--ignore-environment" ||
           (word.starts_with("-") && !word.starts_with("--") && word.find('i') != word.npos);
  });
}

ProgramLookup put_in_front(std::string_view name, std::span<const std::string> options) {
  return {{},
          kExitUsage,
          base::error("{} cannot stand between terrane and the program, whose threads run on "
                      "several nodes: put it in front: {}{}{} terrane ... PROGRAM",
                      name, name, options.empty() ? "" : " ", fmt::join(options, " "))};
}

// The first word behind a wrapper that is a program; the end: none is.
std::size_t next_program(const std::vector<std::string>& words, std::size_t at,
                         const std::string& search_path) {
  for (++at; at < words.size(); ++at) {
    const std::string& word = words[at];
    bool is_option = word.starts_with("-") || word.find('=') != std::string::npos;
    if (!is_option && find_program(word, search_path).exit_code == 0) return at;
  }
  return at;
}

}  // namespace

ProgramLookup program_behind(const std::vector<std::string>& words,
                             const std::string& search_path) {
  std::size_t at = 0;
  for (;;) {
    std::string_view name = file_name(words[at]);
    std::size_t next = next_program(words, at, search_path);
    std::span<const std::string> options(words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                         words.begin() + static_cast<std::ptrdiff_t>(next));
    if (is_in(kOutside, name)) return put_in_front(name, options);
    if (!is_in(kWrappers, name)) break;
    if (next == words.size())
      return {
          {}, kExitNotFound, base::error("{} has no program behind it that can be found", name)};
    if (name == "env" && hides_environment(options)) return put_in_front(name, options);
    at = next;
  }
  return find_program(words[at], search_path);
}

}  // namespace terrane::tools
