#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace terrane::tools {

// How many nodes `terrane run` can start here, and what sets that limit.
struct NodeLimit {
  std::uint32_t nodes;
  std::string reason;
};

inline constexpr std::uint32_t kMaxNodes = 1024;

// From the fixed limit and the resource limits given (hard ones; 0: no limit).
NodeLimit node_limit(std::uint64_t files, std::uint64_t processes);
// The same, for this process.
NodeLimit node_limit();

// Reads the value of -n.
base::Result<std::uint32_t> parse_nodes(const std::string& text, const NodeLimit& limit);
// Reads the seconds that `option` was given, with a fraction, into milliseconds.
base::Result<std::uint64_t> parse_seconds(const std::string& option, const std::string& text);
// Reads the value of --heartbeat: seconds, or 0 for none.
base::Result<std::uint64_t> parse_heartbeat(const std::string& text);
// Reads the value of `option`, --death-after: seconds, at least the heartbeat; empty: the default.
base::Result<std::uint64_t> parse_death_after(const std::string& option, const std::string& text,
                                              std::uint64_t heartbeat_ms);
// A size as TERRANE_MEMORY wants it: a number and an optional K, M, G or T (then B or iB); nullopt:
// the text is none, or one of 0 bytes.
std::optional<std::uint64_t> size_bytes(const std::string& text);

}  // namespace terrane::tools
