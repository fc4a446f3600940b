#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace terrane::tools {

// A job as it was asked for, checked and ready to start.
struct JobPlan {
  std::uint32_t nodes = 1;
  std::string path;               // of the program's file
  std::vector<std::string> argv;  // the program's own, argv[0] as the user wrote it
  std::vector<std::pair<std::string, std::string>> environment;  // set on top of the launcher's own
  bool tag_output = false;
  bool bind_to_core = false;
  bool verbose = false;
  std::uint64_t timeout_ms = 0;   // 0: none
  std::span<char*> command_line;  // main's argv, so that helper processes can show another title
};

// Exit codes of `terrane run` that are not a node's.
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

}  // namespace terrane::tools
