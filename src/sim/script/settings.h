#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "sim/program.h"

namespace terrane::sim {

// A setting of a history that a script can choose, and that the report of a failure shows.
struct Setting {
  using Member = std::variant<std::uint32_t Setup::*, std::uint64_t Setup::*, bool Setup::*>;

  std::string_view name;
  Member member;
  std::uint64_t least = 0, most = 1;
  std::string_view no = "no", yes = "yes";  // the words of a bool

  // The value as a script writes it.
  std::string value_in(const Setup& setup) const;
  bool is_default_in(const Setup& setup) const;
  // The allowed values, for a message: "a number from 1 to 16", "scan or fault".
  std::string choices() const;
  // False if `value` is not allowed.
  bool set(Setup& setup, std::string_view value) const;
};

std::span<const Setting> settings();

// The whole text as a decimal or hexadecimal number (0x...).
std::optional<std::uint64_t> number_in(std::string_view text);

}  // namespace terrane::sim
