#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace terrane::platform {

// A function of another library, which calls of a module are to reach instead of the one that the
// loader has found.
struct Redirection {
  const char* name;
  void* to;
  std::size_t places = 0;  // set: how many of the modules' references it replaced
};

// Redirects the functions that modules whose file names begin with `prefix` import, in all of them
// that are loaded now and for as long as they are. Calls through pointers that a module has read
// before are not redirected. Repeating it changes nothing.
void redirect_imports(std::string_view prefix, std::span<Redirection> functions);

// The same without a change: how many references there are.
void count_imports(std::string_view prefix, std::span<Redirection> functions);

}  // namespace terrane::platform
