#include "platform/signal_text.h"

#include <unistd.h>

namespace terrane::platform {

SignalText& SignalText::add(const char* text) noexcept {
  while (*text != '\0' && size_ < sizeof text_) text_[size_++] = *text++;
  return *this;
}

SignalText& SignalText::add_decimal(std::uint64_t value) noexcept {
  char digits[21] = {};
  int first = 20;
  do {
    digits[--first] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return add(digits + first);
}

SignalText& SignalText::add_hex(std::uint64_t value) noexcept {
  char digits[19] = "0x0000000000000000";
  int first = 17;
  for (int at = 17; value != 0; --at, value >>= 4) {
    digits[at] = "0123456789abcdef"[value & 15];
    first = at;
  }
  return add("0x").add(digits + first);
}

void SignalText::write_to_stderr() const noexcept {
  [[maybe_unused]] ssize_t ignored = ::write(STDERR_FILENO, text_, size_);
}

}  // namespace terrane::platform
