#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace terrane::base {

// The speaker: put before each line once the process knows its place ("node 2 (host)").
void set_log_identity(std::string_view identity);

// One line on standard error, written with a single write(2). Not for signal handlers.
void log_line(std::string_view text);

template <typename... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace terrane::base
