#include "frontend/threads/race_names.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "frontend/threads/noted_blocks.h"
#include "frontend/threads/symbols.h"

namespace terrane::frontend::threads {
namespace {

// "u+0x10" is 16 bytes into u.
runtime::NamedVariable named(std::string text) {
  std::size_t plus = text.rfind("+0x");
  if (plus == std::string::npos) return {std::move(text), 0};
  std::uint64_t offset = 0;
  const char* end = text.data() + text.size();
  std::from_chars(text.data() + plus + 3, end, offset, 16);
  text.resize(plus);
  return {std::move(text), offset};
}

// A variable of the program, or a block of the heap by the line of its malloc.
runtime::NamedVariable variable_of(std::uintptr_t at, const std::string& path,
                                   std::map<std::uintptr_t, std::string>& places) {
  runtime::NamedVariable variable = named(variable_at(at));
  if (!variable.name.empty()) return variable;
  NotedBlock block = noted_block_at(at);
  if (block.bytes == 0) return variable;
  auto [place, fresh] = places.try_emplace(block.caller);
  if (fresh) place->second = place_of_code(block.caller - 1, path);  // takes some milliseconds
  return {fmt::format("the block of {} bytes of {}", block.bytes, place->second), at - block.begin};
}

}  // namespace

runtime::ProgramNames program_names() {
  const char* set = std::getenv("PATH");
  std::string path = set == nullptr ? "" : set;
  auto places = std::make_shared<std::map<std::uintptr_t, std::string>>();
  return {
      .variable = [path, places](std::uintptr_t at) { return variable_of(at, path, *places); },
      .variables = {},
      .place = [path](std::uintptr_t at) { return place_of_code(at, path); },
      .is_atomic = [path](std::uintptr_t at) { return source_says_atomic(at, path); },
      .allocation = [path](const std::string& name) { return line_of_call(name, path); },
  };
}

runtime::ProgramNames live_names() {
  return {.variable = [](std::uintptr_t at) { return named(variable_at(at)); },
          .variables = [](std::uintptr_t at, std::size_t bytes) { return variables_in(at, bytes); },
          .place = {},
          .is_atomic = {},
          .allocation = {}};
}

}  // namespace terrane::frontend::threads
