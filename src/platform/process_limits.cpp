#include "platform/process_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "platform/file_text.h"
#include "platform/page_size.h"

namespace terrane::platform {
namespace {

// nullopt: no limit.
std::optional<std::uint64_t> limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::uint64_t left_of(std::optional<std::uint64_t> limit, std::uint64_t used) {
  return limit ? *limit - std::min(*limit, used) : ~std::uint64_t{0};
}

// Of this process's group in the hierarchy that counts processes and threads.
std::string own_full_group() {
  std::string groups = file_text("/proc/self/cgroup");
  for (std::string_view line : lines_of(groups)) {
    auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controller(line.substr(first + 1, second - first - 1));
    if (!controller.empty() && controller != "pids") continue;
    std::string full =
        full_group_of_threads(controller.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids",
                              std::string(line.substr(second + 1)));
    if (!full.empty()) return full;
  }
  return {};
}

}  // namespace

AddressesLeft addresses_left() {
  auto all = limit_of(RLIMIT_AS), own = limit_of(RLIMIT_DATA);
  if (!all && !own) return {};
  std::uint64_t pages[6] = {};  // all, resident, shared, text, 0, data and stacks
  std::string text = file_text("/proc/self/statm");
  std::vector<std::string_view> words = words_of(text);
  for (std::size_t i = 0; i < std::min(words.size(), std::size(pages)); ++i)
    pages[i] = number_of(words[i]).value_or(0);
  return {left_of(all, pages[0] * page_bytes()), left_of(own, pages[5] * page_bytes())};
}

std::string full_group_of_threads(const std::string& top, std::string folder) {
  if (folder == "/") folder.clear();
  for (;;) {
    auto limit = number_in_file(top + folder + "/pids.max");
    auto used = number_in_file(top + folder + "/pids.current");
    if (limit && used && *used >= *limit)
      return fmt::format(
          "the control group {} has all {} processes and threads that its pids.max allows; raise "
          "it (docker run --pids-limit, systemd TasksMax), or run fewer nodes here",
          folder.empty() ? "/" : folder, *limit);
    if (folder.empty()) return {};
    folder.erase(folder.rfind('/'));
  }
}

std::string why_no_thread(int error) {
  auto stack = limit_of(RLIMIT_STACK).value_or(std::uint64_t{8} << 20);
  if (addresses_left().all < stack + page_bytes())
    return fmt::format(
        "'ulimit -v' leaves no addresses for its stack of {} KiB; raise it, or lower TERRANE_SPACE "
        "or 'ulimit -s'",
        stack >> 10);
  if (error == EAGAIN) {
    if (std::string group = own_full_group(); !group.empty()) return group;
    if (auto limit = limit_of(RLIMIT_NPROC); limit && geteuid() != 0)
      return fmt::format(
          "this user may have {} processes and threads; raise 'ulimit -u', or run fewer nodes here",
          *limit);
  }
  return "a limit on processes and threads is reached: 'ulimit -u', pids.max of the control group, "
         "kernel.threads-max or kernel.pid_max";
}

}  // namespace terrane::platform
