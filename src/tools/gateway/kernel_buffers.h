#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace terrane::tools {

// What to say where links have figures and the kernel's limits of a TCP connection's buffers are
// too small for them. window: of a pair of nodes (tools/launch/gateways/gateway_window.h); folder:
// /proc/sys/net/ipv4. nullopt: they are large enough, or not known.
std::optional<std::string> small_buffers(std::uint64_t window, const std::string& folder);

}  // namespace terrane::tools
