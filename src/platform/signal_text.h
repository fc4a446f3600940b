#pragma once

#include <cstddef>
#include <cstdint>

namespace terrane::platform {

// One sentence composed and written inside a signal handler: no allocation, no locale, cut off when
// too long.
class SignalText {
 public:
  SignalText& add(const char* text) noexcept;
  SignalText& add_decimal(std::uint64_t value) noexcept;
  SignalText& add_hex(std::uint64_t value) noexcept;
  void write_to_stderr() const noexcept;

 private:
  char text_[512];
  std::size_t size_ = 0;
};

}  // namespace terrane::platform
