#pragma once

namespace terrane::tools {

// Exit codes of `terrane run` that are not a node's.
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitOutput = 74;  // sysexits.h: EX_IOERR
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

}  // namespace terrane::tools
