#include "base/log.h"

#include <unistd.h>

namespace terrane::base {
namespace {

std::string& identity() {
  static std::string text;
  return text;
}

}  // namespace

void set_log_identity(std::string_view text) { identity() = text; }

void log_line(std::string_view text) {
  std::string line = identity().empty() ? fmt::format("terrane: {}\n", text)
                                        : fmt::format("terrane: {}: {}\n", identity(), text);
  [[maybe_unused]] auto ignored = ::write(2, line.data(), line.size());
}

}  // namespace terrane::base
