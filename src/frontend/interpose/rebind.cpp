#include "frontend/interpose/rebind.h"

#include <dlfcn.h>

#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "frontend/interpose/next.h"
#include "platform/imports.h"

namespace terrane::frontend {
namespace {

// Modules that call each other past the program: ours, and those of the C library.
constexpr std::string_view kOthers[] = {"libterrane", "libc.so",  "libpthread.so", "libdl.so",
                                        "librt.so",   "ld-linux", "linux-vdso"};

struct Front {
  void* ours;
  void* behind;  // the C library's
};
using Fronts = std::unordered_map<std::string_view, Front>;

const Fronts*& fronts() {
  static const Fronts* one = nullptr;
  return one;
}

void rebind() {
  platform::rebind_imports(kOthers, [](const char* name, void* bound) -> void* {
    auto found = fronts()->find(name);
    if (found == fronts()->end()) return nullptr;
    return bound == nullptr || bound == found->second.behind ? found->second.ours : nullptr;
  });
}

// The C library searches the folders that the caller names: it must see the program as the caller
// wherever it searches, so such a call is the last of this function, and a jump. What it opens is
// rebound with the next module.
void* open_and_rebind(const char* file, int mode) {
  auto* real =
      reinterpret_cast<void* (*)(const char*, int) noexcept>(fronts()->at("dlopen").behind);
  if (file == nullptr || std::strchr(file, '/') == nullptr) return real(file, mode);
  void* handle = real(file, mode);
  if (handle != nullptr) rebind();
  return handle;
}

// Functions that the program finds in the C library, and that this library has in front of it.
const Fronts* find_fronts() {
  auto* found = new Fronts();  // never destroyed: it is used while the process exits
  auto* exports = new std::vector(
      platform::exports_without_version(reinterpret_cast<const void*>(&come_to_the_front)));
  for (const auto& [name, ours] : *exports) {
    bool has_older = std::string_view(name).starts_with("pthread_cond_");
    void* behind = has_older ? find_next(name.c_str()) : find_next_if_any(name.c_str());
    bool is_the_librarys = has_older || behind == dlsym(RTLD_DEFAULT, name.c_str());
    if (behind != nullptr && behind != ours && is_the_librarys)
      found->emplace(name, Front{ours, behind});
  }
  found->emplace("dlopen",
                 Front{reinterpret_cast<void*>(&open_and_rebind), find_next_if_any("dlopen")});
  return found;
}

}  // namespace

void come_to_the_front() {
  fronts() = find_fronts();
  rebind();
}

}  // namespace terrane::frontend
