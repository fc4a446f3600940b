#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/unique_fd.h"
#include "tools/launch/host/spawn.h"

namespace terrane::tools {

// What the engine below a guard gets.
struct EngineSide {
  const Inheritance* inheritance;
  base::UniqueFd guard;  // the socket to the guard
  base::UniqueFd input;  // standard input, or what is typed at the terminal
};

struct GuardOptions {
  std::span<char*> command_line;   // main's argv, so that the engine can show another title
  std::uint64_t heartbeat_ms = 0;  // an engine that is stopped for so long is ended; 0: never
  bool passes_input = true;        // false: the engine's input is empty
};

// Runs `engine` in a child process and returns its exit code. This process stays above it as its
// guard: it takes signals and the terminal and passes them on, and holds the nodes' lifelines.
// Whichever of the two is killed, the other ends every process below them
// (docs/decisions/0003-local-launcher-processes.md).
int run_guarded(const GuardOptions& options, const std::function<int(EngineSide)>& engine);

}  // namespace terrane::tools
