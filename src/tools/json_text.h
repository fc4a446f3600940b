#pragma once

#include <fmt/format.h>

#include <string>

namespace terrane::tools {

// As JSON wants text (RFC 8259, section 7), in its quotes.
inline std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace terrane::tools
