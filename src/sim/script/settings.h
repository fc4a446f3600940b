#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "sim/program.h"

namespace terrane::sim {

// A setting of a history that a script can choose, and that a failure shows.
struct Setting {
  using Member = std::variant<std::uint32_t Setup::*, std::uint64_t Setup::*, bool Setup::*>;

  std::string_view name;
  Member member;
  std::uint64_t least = 0, most = 1;
  std::string_view no = "no", yes = "yes";  // the words of a bool

  // As a script says it.
  std::string value_in(const Setup& setup) const;
  bool is_default_in(const Setup& setup) const;
  // What may stand there, for a message: "a number from 1 to 16", "scan or fault".
  std::string choices() const;
  // False where `value` is not one of the choices.
  bool set(Setup& setup, std::string_view value) const;
};

std::span<const Setting> settings();

// A decimal or hexadecimal number (0x...), all of the text.
std::optional<std::uint64_t> number_in(std::string_view text);

}  // namespace terrane::sim
