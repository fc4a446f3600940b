#include "tools/gateway/kernel_buffers.h"

#include <fmt/format.h>

#include <fstream>

#include "tools/launch/gateways/gateway_window.h"

namespace terrane::tools {
namespace {

// A window is one and a half times what is under way. The kernel keeps as much again as the bytes
// of a buffer for its own records.
constexpr std::uint64_t kUnderWay = 2, kOfWindow = 3, kRecords = 2;

struct Limit {
  std::uint64_t least = 0, usual = 0, most = 0;  // bytes
};

std::optional<Limit> limit_of(const std::string& file) {
  Limit limit;
  std::ifstream in(file);
  if (!(in >> limit.least >> limit.usual >> limit.most)) return std::nullopt;
  return limit;
}

}  // namespace

std::optional<std::string> small_buffers(std::uint64_t window, const std::string& folder) {
  if (window <= kMostUsualWindow) return std::nullopt;
  std::uint64_t under_way = window / kOfWindow * kUnderWay;
  std::string commands;
  for (const char* name : {"tcp_rmem", "tcp_wmem"}) {
    auto limit = limit_of(folder + "/" + name);
    if (!limit || limit->most >= under_way * kRecords) continue;
    commands += fmt::format("; sysctl -w net.ipv4.{}='{} {} {}'", name, limit->least, limit->usual,
                            under_way * kRecords);
  }
  if (commands.empty()) return std::nullopt;
  return fmt::format(
      "a pair of nodes has up to {:.1f} MB on its way between clusters, and the kernel's buffers "
      "of "
      "a connection are too small for that{}",
      static_cast<double>(under_way) / 1e6, commands);
}

}  // namespace terrane::tools
