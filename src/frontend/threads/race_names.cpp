#include "frontend/threads/race_names.h"

#include <charconv>
#include <cstdlib>
#include <string>

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

}  // namespace

runtime::ProgramNames program_names() {
  const char* set = std::getenv("PATH");
  std::string path = set == nullptr ? "" : set;
  return {
      .variable = [](std::uintptr_t at) { return named(threads::variable_at(at)); },
      .allocation = [path](const std::string& name) { return line_of_call(name, path); },
      .code = [path](std::uintptr_t at) { return place_of_code(at, path); },
  };
}

}  // namespace terrane::frontend::threads
