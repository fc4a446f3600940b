#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace terrane::fuzz {

// Takes decisions and bytes from the front of an input; zeros once it is used up.
class InputReader {
 public:
  explicit InputReader(std::span<const std::byte> input) : input_(input) {}

  bool empty() const { return input_.empty(); }

  template <typename T>
  T take() {
    static_assert(std::is_integral_v<T>);
    T value{};
    std::span<const std::byte> bytes = take_bytes(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  // In [0, bound), from one byte.
  std::uint32_t below(std::uint32_t bound) { return take<std::uint8_t>() % bound; }

  // At most `size` bytes.
  std::span<const std::byte> take_bytes(std::size_t size) {
    std::span<const std::byte> taken = input_.first(std::min(size, input_.size()));
    input_ = input_.subspan(taken.size());
    return taken;
  }
  // A part as InputWriter::part writes it.
  std::span<const std::byte> take_part() { return take_bytes(take<std::uint16_t>()); }
  std::span<const std::byte> rest() { return take_bytes(input_.size()); }

 private:
  std::span<const std::byte> input_;
};

}  // namespace terrane::fuzz
