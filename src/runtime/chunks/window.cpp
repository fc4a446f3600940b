#include "runtime/chunks/window.h"

#include <algorithm>

#include "protocol/chunks/mesi_chunk.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kLeast = 2;
constexpr std::uint64_t kSecond_ns = 1'000'000'000;
constexpr std::uint64_t kOthers = 4;  // buffers beside those of the window

}  // namespace

std::uint32_t window_for(std::uint64_t bytes, std::uint64_t bandwidth, std::uint64_t delay_ns,
                         std::uint64_t budget_bytes) {
  double under_way = static_cast<double>(bandwidth) * static_cast<double>(delay_ns) / kSecond_ns;
  std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  std::uint64_t most = budget_bytes / 4 / size;
  most = std::min<std::uint64_t>(most > kOthers ? most - kOthers : 0, protocol::chunks::kMaxWindow);
  // One more than are under way: the one that the program reads.
  double wanted = under_way / static_cast<double>(size) + 1;
  auto window = wanted < static_cast<double>(most) ? static_cast<std::uint64_t>(wanted) + 1 : most;
  return static_cast<std::uint32_t>(std::max(window, kLeast));
}

}  // namespace terrane::runtime::chunks
