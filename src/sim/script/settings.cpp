#include "sim/script/settings.h"

#include <fmt/format.h>

#include <charconv>

namespace terrane::sim {
namespace {

constexpr std::uint64_t kMany = 1u << 16;

constexpr Setting kSettings[] = {
    {"nodes", &Setup::nodes, 1, kMaxNodes},
    {"unit", &Setup::block_bytes, 64, 128},
    {"hosts", &Setup::hosts, 1, kMaxNodes},
    {"clusters", &Setup::clusters, 1, kMaxNodes},
    {"detection", &Setup::scan, 0, 1, "fault", "scan"},
    {"blocks enter", &Setup::enters_protected, 0, 1, "free", "protected"},
    {"races", &Setup::racy},
    {"memory limit", &Setup::limit, 3, ~0ull},
    {"notices kept", &Setup::max_log_ranges, 1, kMany},
    {"notices an interval", &Setup::most_notices, 1, kMany},
    {"barrier arity", &Setup::barrier_arity, 2, 4},
    {"in-memory barriers", &Setup::in_memory_barriers},
    {"homes move", &Setup::migrate},
    {"homes asked after reads", &Setup::reads_ask, 0, kMany},
    {"refresh after misses", &Setup::refresh_after, 1, 255},
    {"refreshes in a row", &Setup::most_refreshes, 1, 255},
    {"pushes unused at most", &Setup::unused_pushes, 0, kMany},
    {"blocks in a message", &Setup::max_run, 1, 16},
    {"prefetch requests", &Setup::runs_pipelined, 0, 3},
    {"ranges before a look", &Setup::look_from, 2, kMany},
    {"named readers", &Setup::sc_named_readers, 1, kMaxNodes},
    {"flushes leave late", &Setup::late_flushes},
    {"first byte", &Setup::first_byte, 0, 255},
};

}  // namespace

std::span<const Setting> settings() { return kSettings; }

std::optional<std::uint64_t> number_in(std::string_view text) {
  bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || at != end) return std::nullopt;
  return value;
}

std::string Setting::value_in(const Setup& setup) const {
  if (const auto* flag = std::get_if<bool Setup::*>(&member))
    return std::string(setup.**flag ? yes : no);
  if (const auto* wide = std::get_if<std::uint64_t Setup::*>(&member))
    return fmt::format("{}", setup.**wide);
  return fmt::format("{}", setup.*std::get<std::uint32_t Setup::*>(member));
}

bool Setting::is_default_in(const Setup& setup) const {
  return value_in(setup) == value_in(Setup{});
}

std::string Setting::choices() const {
  if (std::holds_alternative<bool Setup::*>(member)) return fmt::format("{} or {}", yes, no);
  if (most == ~0ull) return fmt::format("a number from {} on", least);
  return fmt::format("a number from {} to {}", least, most);
}

bool Setting::set(Setup& setup, std::string_view value) const {
  if (const auto* flag = std::get_if<bool Setup::*>(&member)) {
    setup.** flag = value == yes;
    return value == yes || value == no;
  }
  std::optional<std::uint64_t> number = number_in(value);
  if (!number || *number < least || *number > most) return false;
  if (const auto* wide = std::get_if<std::uint64_t Setup::*>(&member)) {
    setup.** wide = *number;
  } else {
    setup.*std::get<std::uint32_t Setup::*>(member) = static_cast<std::uint32_t>(*number);
  }
  return true;
}

}  // namespace terrane::sim
