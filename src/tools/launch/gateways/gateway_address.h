#pragma once

#include <string_view>

#include "routing/frame.h"

namespace terrane::tools {

// The address of a gateway in the network: made of its name, so that one which is started by hand
// knows it, too.
inline routing::Address gateway_address(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return routing::Address::of_gateway(hash & 0x3fff'ffffu);
}

}  // namespace terrane::tools
