#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace terrane::runtime::shmem {

// The environment variables of the OpenSHMEM specification: SHMEM_NAME or, if that is not set, the
// deprecated SMA_NAME.
struct Settings {
  std::uint64_t symmetric_bytes = 0;  // SYMMETRIC_SIZE: the heap can grow at least to this size
  bool tell_version = false;          // VERSION: set to any value
  bool tell_variables = false;        // INFO
};

// A bad value gives an error that names the variable and the values that it accepts.
base::Result<Settings> read_settings();

// "20m", "3.1M", "4096": bytes, rounded up. The suffixes are k, m, g and t in both cases; text
// after them is ignored.
base::Result<std::uint64_t> parse_symmetric_size(std::string_view text);

// The output of SHMEM_INFO: a line for each variable.
std::string describe_variables();

}  // namespace terrane::runtime::shmem
