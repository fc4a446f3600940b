#include "tools/report/text.h"

#include <fmt/format.h>

namespace terrane::tools::report {

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string time_text(std::uint64_t ns) {
  auto number = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.1f} us", number / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.1f} ms", number / 1e6);
  return fmt::format("{:.3f} s", number / 1e9);
}

std::string bytes_text(std::uint64_t bytes) {
  auto number = static_cast<double>(bytes);
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} KiB", number / 1024);
  return fmt::format("{:.1f} MiB", number / (1 << 20));
}

std::string share_text(double part, double whole) {
  return fmt::format("{:.0f} %", whole > 0 ? 100 * part / whole : 0);
}

}  // namespace terrane::tools::report
