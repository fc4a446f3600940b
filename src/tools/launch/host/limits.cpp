#include "tools/launch/host/limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "tools/launch/host/host_messages.h"

namespace terrane::tools {
namespace {

// Descriptors of the launcher for one node: its place, channel, news, lifeline and process, and
// twice three on its cards.
constexpr std::uint64_t kFilesPerNode = 11;
constexpr std::uint64_t kOtherFiles = 64;
constexpr std::uint64_t kOtherProcesses = 3;
constexpr double kMaxSeconds = 1e9;
constexpr std::uint64_t kMinHeartbeatMs = 50;

std::uint64_t hard_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return 0;
  return limit.rlim_max;
}

}  // namespace

NodeLimit node_limit(std::uint64_t files, std::uint64_t processes) {
  NodeLimit limit{kMaxNodes, "a fixed limit of terrane run on one host"};
  std::uint64_t by_files = files > kOtherFiles ? (files - kOtherFiles) / kFilesPerNode : 0;
  if (files != 0 && by_files < limit.nodes) {
    limit = {std::max<std::uint32_t>(1, static_cast<std::uint32_t>(by_files)),
             fmt::format("{} descriptors a node, and RLIMIT_NOFILE is {}; raise it with ulimit -Hn",
                         kFilesPerNode, files)};
  }
  std::uint64_t by_processes = processes > kOtherProcesses ? processes - kOtherProcesses : 0;
  if (processes != 0 && by_processes < limit.nodes) {
    limit = {std::max<std::uint32_t>(1, static_cast<std::uint32_t>(by_processes)),
             fmt::format("a process a node, and RLIMIT_NPROC is {}; raise it with ulimit -Hu",
                         processes)};
  }
  return limit;
}

NodeLimit node_limit() {
  bool root = ::geteuid() == 0;  // the kernel does not hold root to RLIMIT_NPROC
  return node_limit(hard_limit(RLIMIT_NOFILE), root ? 0 : hard_limit(RLIMIT_NPROC));
}

base::Result<std::uint32_t> parse_nodes(const std::string& text, const NodeLimit& limit) {
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool all_read = end == text.data() + text.size() && !text.empty();
  if (error == std::errc::result_out_of_range && all_read && text[0] != '-') {
    number = INT64_MAX;
  } else if (error != std::errc() || !all_read) {
    return base::error("-n {}: the number of nodes must be a whole number from 1 to {}", text,
                       limit.nodes);
  }
  if (number < 1) {
    return base::error("-n {}: a job has at least 1 node; give a number from 1 to {}", text,
                       limit.nodes);
  }
  if (number > limit.nodes) {
    return base::error("-n {}: at most {} nodes can be started here ({})", text, limit.nodes,
                       limit.reason);
  }
  return static_cast<std::uint32_t>(number);
}

base::Result<std::uint64_t> parse_seconds(const std::string& option, const std::string& text) {
  char* end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  bool is_number = !text.empty() && end == text.c_str() + text.size();
  if (!is_number || !(seconds > 0) || seconds > kMaxSeconds) {
    return base::error("{} {}: must be a number of seconds greater than 0", option, text);
  }
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * 1000));
}

base::Result<std::uint64_t> parse_heartbeat(const std::string& text) {
  if (text == "0") return 0;
  auto ms = parse_seconds("--heartbeat", text);
  if (ms && ms.value() < kMinHeartbeatMs) {
    return base::error("--heartbeat {}: must be at least {} seconds, or 0 for none", text,
                       kMinHeartbeatMs / 1000.0);
  }
  return ms;
}

base::Result<std::uint64_t> parse_death_after(const std::string& option, const std::string& text,
                                              std::uint64_t heartbeat_ms) {
  if (text.empty()) return std::max(kDeathAfterMs, heartbeat_ms);
  auto ms = parse_seconds(option, text);
  if (ms && ms.value() < heartbeat_ms) {
    return base::error(
        "{} {}: must be at least the heartbeat, {} seconds; give a longer time, or a "
        "shorter --heartbeat",
        option, text, static_cast<double>(heartbeat_ms) / 1000);
  }
  return ms;
}

std::optional<std::uint64_t> size_bytes(const std::string& text) {
  constexpr std::string_view kUnits = "KMGT";
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.empty()) return number;
  std::size_t power = kUnits.find(static_cast<char>(std::toupper(unit[0])));
  if (power == std::string_view::npos) return std::nullopt;
  unit.remove_prefix(1);
  if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
  std::uint64_t bytes = 0;
  bool fits = !__builtin_mul_overflow(number, std::uint64_t{1} << 10 * (power + 1), &bytes);
  return fits ? std::optional(bytes) : std::nullopt;
}

}  // namespace terrane::tools
