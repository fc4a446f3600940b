// Other programs: their command lines and environments may lie in shared memory, which the child
// that executes them does not have.
#include <limits.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"
#include "runtime/program/own_stack.h"

using terrane::frontend::InPath;
using terrane::frontend::next;
using terrane::frontend::SharedRange;
using terrane::runtime::on_own_stack;

namespace {

// A list of strings that ends with a null pointer; private where any part of it is shared. An
// address in no allocation ends the process, as it does for any access.
class InStrings {
 public:
  explicit InStrings(char* const* list) : use_(list) {
    if (!is_shared(list)) return;
    for (char* const* one = list; *one != nullptr; ++one) texts_.emplace_back(*one);
    for (std::string& text : texts_) own_.push_back(text.data());
    own_.push_back(nullptr);
    use_ = own_.data();
  }
  InStrings(const InStrings&) = delete;
  char* const* get() const { return use_; }

 private:
  static bool is_shared(char* const* list) {
    if (!SharedRange::exists() || list == nullptr) return false;
    if (SharedRange::contains(list)) return true;
    for (; *list != nullptr; ++list) {
      if (SharedRange::contains(*list)) return true;
    }
    return false;
  }

  std::vector<std::string> texts_;
  std::vector<char*> own_;
  char* const* use_;
};

// A command line may be longer than a path.
class InCommand {
 public:
  explicit InCommand(const char* command) : use_(command) {
    if (SharedRange::contains(command)) use_ = (own_ = command).c_str();
  }
  const char* get() const { return use_; }

 private:
  std::string own_;
  const char* use_;
};

// What posix_spawn is given lies on the calling thread's stack, as a rule.
using Actions = terrane::frontend::In<posix_spawn_file_actions_t>;
using Attributes = terrane::frontend::In<posix_spawnattr_t>;

// call(child) is one of the posix_spawn family. The C library blocks all signals in it, and a write
// to a protected page of a stack in shared memory would end the process then.
template <typename Call>
int spawn(pid_t* process, Call call) {
  auto [error, child] = on_own_stack([=] {
    pid_t own = 0;
    int failed = call(&own);
    return std::pair(failed, own);
  });
  if (error == 0 && process != nullptr) *process = child;
  return error;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int system(const char* command) {
  InCommand own(command);
  return on_own_stack([text = own.get()] { return next<"system">(::system)(text); });
}

FILE* popen(const char* command, const char* mode) {
  terrane::frontend::ForNode memory;
  InCommand own(command);
  std::string own_mode = mode;
  return terrane::frontend::adopt(on_own_stack(
      [text = own.get(), how = own_mode.c_str()] { return next<"popen">(::popen)(text, how); }));
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  InPath own(path);
  InStrings own_arguments(arguments), own_environment(environment);
  Actions own_actions(actions);
  Attributes own_attributes(attributes);
  return spawn(process, [&](pid_t* child) {
    return next<"posix_spawn">(::posix_spawn)(child, own.get(), own_actions.get(),
                                              own_attributes.get(), own_arguments.get(),
                                              own_environment.get());
  });
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) {
  InPath own(file);
  InStrings own_arguments(arguments), own_environment(environment);
  Actions own_actions(actions);
  Attributes own_attributes(attributes);
  return spawn(process, [&](pid_t* child) {
    return next<"posix_spawnp">(::posix_spawnp)(child, own.get(), own_actions.get(),
                                                own_attributes.get(), own_arguments.get(),
                                                own_environment.get());
  });
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  InPath own(path);
  InStrings own_arguments(arguments), own_environment(environment);
  return next<"execve">(::execve)(own.get(), own_arguments.get(), own_environment.get());
}

int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environ);
}

int execvp(const char* file, char* const* arguments) noexcept {
  InPath own(file);
  InStrings own_arguments(arguments);
  return next<"execvp">(::execvp)(own.get(), own_arguments.get());
}

}  // extern "C"
#pragma GCC visibility pop
