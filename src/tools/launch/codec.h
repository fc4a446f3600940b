#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"

namespace terrane::tools {

// A struct says what it is made of by fields(), a std::tie of its members; it travels as these, one
// after the other: numbers as they lie in memory (the same at both ends:
// base/architecture.h), texts and lists with their length in front.
template <typename T>
concept HasFields = requires(T& value) {
  value.fields();
};

class Encoder {
 public:
  explicit Encoder(std::vector<std::byte>& out) : out_(out) {}

  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(const T& number) { put_bytes(&number, sizeof number); }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_bytes(text.data(), text.size());
  }
  void put(const std::vector<std::byte>& bytes) {
    put(static_cast<std::uint32_t>(bytes.size()));
    put_bytes(bytes.data(), bytes.size());
  }
  void put(const NodeId& node) { put(node.value); }
  template <typename A, typename B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) put(item);
  }
  template <HasFields T>
  void put(const T& value) {
    std::apply([&](const auto&... field) { (put(field), ...); }, const_cast<T&>(value).fields());
  }

 private:
  void put_bytes(const void* data, std::size_t size) {
    std::size_t before = out_.size();
    out_.resize(before + size);
    if (size != 0) std::memcpy(out_.data() + before, data, size);
  }

  std::vector<std::byte>& out_;
};

// Reads the same. Never outside of the bytes, and never allocates more than they could hold; once
// something does not fit, ok() is false for good.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> in) : in_(in) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && in_.empty(); }

  template <typename T>
  requires std::is_arithmetic_v<T> &&(!std::same_as<T, bool>)void take(T& number) {
    take_bytes(&number, sizeof number);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void take(T& value) {
    std::underlying_type_t<T> number{};
    take(number);
    if (number < 0 || number > static_cast<std::underlying_type_t<T>>(T::kLast)) ok_ = false;
    if (ok_) value = static_cast<T>(number);
  }
  void take(bool& flag) {
    std::uint8_t byte = 0;
    take(byte);
    flag = byte != 0;
  }
  void take(std::string& text) {
    text.resize(take_length());
    take_bytes(text.data(), text.size());
  }
  void take(std::vector<std::byte>& bytes) {
    bytes.resize(take_length());
    take_bytes(bytes.data(), bytes.size());
  }
  void take(NodeId& node) { take(node.value); }
  template <typename A, typename B>
  void take(std::pair<A, B>& pair) {
    take(pair.first);
    take(pair.second);
  }
  template <typename T>
  void take(std::vector<T>& list) {
    std::uint32_t length = take_length();
    list.clear();
    for (std::uint32_t i = 0; i < length && ok_; ++i) take(list.emplace_back());
  }
  template <HasFields T>
  void take(T& value) {
    std::apply([&](auto&... field) { (take(field), ...); }, value.fields());
  }

 private:
  // Every item takes a byte at least.
  std::uint32_t take_length() {
    std::uint32_t length = 0;
    take(length);
    if (length > in_.size()) ok_ = false;
    return ok_ ? length : 0;
  }
  void take_bytes(void* to, std::size_t size) {
    if (size > in_.size()) ok_ = false;
    if (!ok_ || size == 0) return;
    std::memcpy(to, in_.data(), size);
    in_ = in_.subspan(size);
  }

  std::span<const std::byte> in_;
  bool ok_ = true;
};

namespace detail {

template <typename Variant, std::size_t... Index>
std::optional<Variant> decode_alternative(std::uint32_t which, Decoder& decoder,
                                          std::index_sequence<Index...>) {
  std::optional<Variant> message;
  auto attempt = [&]<std::size_t At>() {
    if (which == At) decoder.take(std::get<At>(message.emplace(std::in_place_index<At>)));
  };
  (attempt.template operator()<Index>(), ...);
  if (!message || !decoder.at_end()) return std::nullopt;
  return message;
}

}  // namespace detail

// A message, one of several kinds: the number of its kind, then its fields.
template <typename Variant>
std::vector<std::byte> encode_message(const Variant& message) {
  std::vector<std::byte> out;
  Encoder encoder(out);
  encoder.put(static_cast<std::uint32_t>(message.index()));
  std::visit([&encoder](const auto& one) { encoder.put(one); }, message);
  return out;
}

// nullopt: there is no such kind, or the fields do not fill the bytes exactly.
template <typename Variant>
std::optional<Variant> decode_message(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  std::uint32_t which = 0;
  decoder.take(which);
  if (!decoder.ok()) return std::nullopt;
  return detail::decode_alternative<Variant>(
      which, decoder, std::make_index_sequence<std::variant_size_v<Variant>>());
}

}  // namespace terrane::tools
