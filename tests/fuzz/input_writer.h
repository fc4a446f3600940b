#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

#include "fuzz/fuzz_target.h"

namespace terrane::fuzz {

// Writes an input for a target to begin from, in the form that InputReader takes.
class InputWriter {
 public:
  template <typename T>
  InputWriter& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return raw(std::as_bytes(std::span(&value, 1)));
  }
  InputWriter& byte(std::uint32_t value) { return put(static_cast<std::uint8_t>(value)); }
  InputWriter& raw(std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), std::back_inserter(input_));
    return *this;
  }
  InputWriter& text(std::string_view text) { return raw(std::as_bytes(std::span(text))); }
  InputWriter& part(std::span<const std::byte> bytes) {
    return put(static_cast<std::uint16_t>(bytes.size())).raw(bytes);
  }

  const Input& input() const { return input_; }

 private:
  Input input_;
};

}  // namespace terrane::fuzz
