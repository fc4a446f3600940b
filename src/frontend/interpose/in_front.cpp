#include "frontend/interpose/in_front.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string_view>

#include "platform/preload_variables.h"

namespace terrane::frontend {
namespace {

// What the loader knows of the object that holds an address; no file where it knows nothing.
Dl_info object_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info : Dl_info{};
}

bool is_program(std::string_view file) {
  char own[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", own, sizeof own);
  return size > 0 && std::string_view(own, static_cast<std::size_t>(size)) == file;
}

bool is_in(std::string_view list, std::string_view file) {
  while (!list.empty()) {
    std::string_view one = list.substr(0, list.find(':'));
    if (one == file) return true;
    list.remove_prefix(std::min(list.size(), one.size() + 1));
  }
  return false;
}

// A list of files without those of another list.
std::string without(std::string_view list, std::string_view files) {
  std::string left;
  while (!list.empty()) {
    std::string_view one = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    if (one.empty() || is_in(files, one)) continue;
    left.append(left.empty() ? "" : ":").append(one);
  }
  return left;
}

// Before main(): children of the program that `terrane run` started do not have the library. What
// is between, such as env(1), hands it on.
[[gnu::constructor]] void leave_environment() {
  const char* library = std::getenv(platform::kPreloadedLibraryVariable);
  const char* program = std::getenv(platform::kPreloadedProgramVariable);
  const char* list = std::getenv("LD_PRELOAD");
  if (library == nullptr || program == nullptr || !is_in_front_of_program()) return;
  std::string left = without(list != nullptr ? list : "", library);
  unsetenv(platform::kPreloadedLibraryVariable);
  unsetenv(platform::kPreloadedProgramVariable);
  if (left.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", left.c_str(), 1);
  }
}

}  // namespace

bool is_in_front_of_program() {
  const char* program = std::getenv(platform::kPreloadedProgramVariable);
  return program == nullptr || is_program(program);
}

std::string library_behind_libc() {
  Dl_info ours = object_of(reinterpret_cast<const void*>(&library_behind_libc));
  Dl_info found = object_of(dlsym(RTLD_DEFAULT, "read"));
  Dl_info libc = object_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  bool behind = found.dli_fbase != ours.dli_fbase && found.dli_fbase == libc.dli_fbase;
  return behind && ours.dli_fname != nullptr ? ours.dli_fname : std::string();
}

}  // namespace terrane::frontend
