#pragma once

#include <cstdint>

namespace terrane::frontend {

// While a function of the C library runs that allocates what its caller is to free (strdup, getcwd
// with NULL): what it allocates belongs to the caller, whose memory may be shared.
class ForCaller {
 public:
  ForCaller() { ++depth(); }
  ~ForCaller() { --depth(); }
  ForCaller(const ForCaller&) = delete;

  static bool is_active() { return depth() != 0; }

 private:
  static std::uint32_t& depth() {
    static thread_local constinit std::uint32_t scopes __attribute__((tls_model("initial-exec"))) =
        0;
    return scopes;
  }
};

}  // namespace terrane::frontend
