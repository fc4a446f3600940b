#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "stream/connection.h"

namespace terrane::stream {

// Where a process listens: addresses in numbers, of which some may lead elsewhere or nowhere from
// here.
struct Door {
  std::vector<std::string> addresses;
  std::uint16_t port = 0;

  bool operator==(const Door&) const = default;
};

struct DialLimits {
  std::uint64_t timeout_ms = 30'000;
  // Called several times a second; true ends the attempt.
  std::function<bool()> given_up = {};
  // A descriptor that ends the attempt when it becomes readable or its other end closes; -1: none.
  int lifeline = -1;
};

// Connects to the door: tries all its addresses at once, and again where they refuse, and keeps the
// first connection whose other end proves the secret. Blocks. The error names every address with
// what happened.
base::Result<std::unique_ptr<Connection>> dial(const Door& door, const Credentials& credentials,
                                               const DialLimits& limits);

}  // namespace terrane::stream
