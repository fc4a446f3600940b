#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// What an import is to be bound to. `bound`: what it is bound to, or nullptr: the loader binds it
// at its first call. nullptr: it stays as it is. Called while the loader is locked: it must not
// call it.
using Binding = std::function<void*(const char* name, void* bound)>;

// Binds the imports of all modules anew whose file names do not begin with one of `others`.
void rebind_imports(std::span<const std::string_view> others, const Binding& binding);

// The functions that the module which holds `address` exports without a version, by name.
std::vector<std::pair<std::string, void*>> exports_without_version(const void* address);

}  // namespace terrane::platform
