// What the C library and the kernel keep for each process, and a program for itself: the current
// folder, the mask of new files and the environment. A change is made on every node.
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/environment.h"
#include "frontend/threads/program.h"

using terrane::frontend::Elsewhere;
using terrane::frontend::ForCaller;
using terrane::frontend::InPath;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

// A change of the environment, in shared memory; no value: the variable is to be removed.
struct Variable {
  const char* name;
  const char* value;
  int overwrites = 1;
};

// A text for other nodes, in shared memory.
class SharedText {
 public:
  explicit SharedText(const char* text) {
    if (text == nullptr) return;
    size_t bytes = strlen(text) + 1;
    copy_ = static_cast<char*>(Program::get()->heap().allocate(bytes));
    if (copy_ != nullptr) memcpy(copy_, text, bytes);
  }
  ~SharedText() {
    if (copy_ != nullptr) Program::get()->heap().free(copy_);
  }
  SharedText(const SharedText&) = delete;
  char* get() const { return copy_; }

 private:
  char* copy_ = nullptr;
};

// Whether the call is the program's, and there are other nodes. Not of a child of vfork.
bool concerns_others() { return Elsewhere::get() != nullptr && is_in_program(); }

int set_here(const Variable& variable) {
  ForCaller memory;  // threads of other nodes may read what getenv(3) answers here
  if (variable.value == nullptr) return next<"unsetenv">(::unsetenv)(variable.name);
  return next<"setenv">(::setenv)(variable.name, variable.value, variable.overwrites);
}

int set(const char* name, const char* value, int overwrites) {
  if (names_environment()) return set_named(name, value, overwrites);
  int result = set_here({name, value, overwrites});
  if (result != 0 || !concerns_others()) return result;
  SharedText shared_name(name), shared_value(value);
  Variable variable{shared_name.get(), shared_value.get(), overwrites};
  bool is_told = variable.name != nullptr && (value == nullptr) == (variable.value == nullptr);
  if (!is_told) {
    errno = ENOMEM;
    return -1;
  }
  run_on_others(
      [](void* raw) -> void* {
        set_here(*static_cast<Variable*>(raw));
        return nullptr;
      },
      &variable);
  return 0;
}

// The other nodes' processes go to this one's folder.
int moved(int result) {
  char here[PATH_MAX];
  if (result != 0 || !concerns_others() || getcwd(here, sizeof here) == nullptr) return result;
  SharedText folder(here);
  if (folder.get() == nullptr) return result;
  run_on_others(
      [](void* path) -> void* {
        next<"chdir">(::chdir)(InPath(static_cast<const char*>(path)).get());
        return nullptr;
      },
      folder.get());
  return result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int chdir(const char* path) noexcept { return moved(next<"chdir">(::chdir)(InPath(path).get())); }

int fchdir(int fd) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("fchdir", fd);
  return moved(next<"fchdir">(::fchdir)(fd));
}

mode_t umask(mode_t mask) noexcept {
  mode_t before = next<"umask">(::umask)(mask);
  if (concerns_others())
    run_on_others(
        [](void* raw) -> void* {
          next<"umask">(::umask)(*static_cast<mode_t*>(raw));
          return nullptr;
        },
        &mask);
  return before;
}

int setenv(const char* name, const char* value, int overwrites) noexcept {
  return set(name, value, overwrites);
}

int unsetenv(const char* name) noexcept { return set(name, nullptr, 1); }

// The string itself becomes part of this node's environment, and a copy of those of the others.
int putenv(char* text) noexcept {
  if (names_environment()) return put_named(text);
  const char* end = strchr(text, '=');
  if (end == nullptr) return unsetenv(text);
  int result = next<"putenv">(::putenv)(text);
  if (result != 0 || !concerns_others()) return result;
  SharedText shared(text);
  if (shared.get() == nullptr) return result;
  run_on_others(
      [](void* raw) -> void* {
        auto* name = static_cast<char*>(raw);
        char* value = strchr(name, '=');
        *value = '\0';
        set_here({name, value + 1});
        *value = '=';
        return nullptr;
      },
      shared.get());
  return result;
}

int clearenv(void) noexcept {
  if (names_environment()) {
    environ = nullptr;
    return 0;
  }
  int result = next<"clearenv">(::clearenv)();
  if (concerns_others())
    run_on_others(
        [](void*) -> void* {
          next<"clearenv">(::clearenv)();
          return nullptr;
        },
        nullptr);
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
