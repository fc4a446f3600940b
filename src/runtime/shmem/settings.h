#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace terrane::runtime::shmem {

// What the environment asks of OpenSHMEM: the specification's variables, SHMEM_NAME or, where that
// is not set, the deprecated SMA_NAME.
struct Settings {
  std::uint64_t symmetric_bytes = 0;  // SYMMETRIC_SIZE: the heap can grow at least so far
  bool tell_version = false;          // VERSION: whatever its value
  bool tell_variables = false;        // INFO
};

// A bad value gives an error that names the variable and what it takes.
base::Result<Settings> read_settings();

// "20m", "3.1M", "4096": bytes, rounded up; k, m, g and t in both cases, and nothing behind them
// counts.
base::Result<std::uint64_t> parse_symmetric_size(std::string_view text);

// What SHMEM_INFO prints: a line for each variable.
std::string describe_variables();

}  // namespace terrane::runtime::shmem
