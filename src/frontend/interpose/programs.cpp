// Other programs: their command lines and environments may lie in shared memory, which the child
// that executes them does not have.
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/executing.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"
#include "runtime/program/own_stack.h"

using namespace terrane::frontend;
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

// call() starts a program with the C library's environment, of which the kernel reads every page in
// the child. It does not start where a page is missing: EFAULT, for which popen says ENOMEM.
template <typename Call>
auto with_environment(Call call) {
  constexpr int kMostTries = 100;
  int before = errno;
  for (int tries = 1;; ++tries) {
    bool is_shared = SharedRange::contains(environ);
    for (char** one = environ; is_shared && *one != nullptr; ++one) {
      volatile const char* text = *one;
      while (*text != '\0') ++text;
    }
    errno = 0;
    auto result = call();
    bool may_have_missed = is_shared && (errno == EFAULT || errno == ENOMEM);
    if (may_have_missed && tries < kMostTries) continue;
    if (errno == 0) errno = before;
    return result;
  }
}

// The file that the C library would look for in the child, where PATH may be out of reach. Empty:
// there is none.
std::string find_program(const char* file) {
  if (std::strchr(file, '/') != nullptr) return file;
  const char* folders = std::getenv("PATH");
  std::string_view left = folders == nullptr ? "/bin:/usr/bin" : folders;
  std::string forbidden;
  for (;;) {
    std::size_t end = left.find(':');
    std::string found(left.substr(0, end));
    if (!found.empty()) found += '/';
    found += file;
    struct stat facts {};
    if (::stat(found.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode)) {
      if (::access(found.c_str(), X_OK) == 0) return found;
      if (forbidden.empty()) forbidden = found;
    }
    if (end == std::string_view::npos) return forbidden;
    left.remove_prefix(end + 1);
  }
}

// What the child does with its files, in private memory.
class Actions {
 public:
  explicit Actions(const posix_spawn_file_actions_t* from) : plain_(from), use_(plain_.get()) {
    Elsewhere* elsewhere = Elsewhere::get();
    is_copy_ = from != nullptr && elsewhere != nullptr && elsewhere->copy_actions(*from, copy_);
    if (is_copy_) use_ = &copy_;
  }
  ~Actions() {
    auto* call = next<"posix_spawn_file_actions_destroy">(::posix_spawn_file_actions_destroy);
    if (is_copy_) call(&copy_);
  }
  Actions(const Actions&) = delete;
  const posix_spawn_file_actions_t* get() const { return use_; }

 private:
  In<posix_spawn_file_actions_t> plain_;
  const posix_spawn_file_actions_t* use_;
  posix_spawn_file_actions_t copy_;
  bool is_copy_ = false;
};

// The arguments of execl(3), with the null pointer at their end.
std::vector<char*> list_of(const char* first, va_list& more) {
  std::vector<char*> all{const_cast<char*>(first)};
  while (all.back() != nullptr) all.push_back(va_arg(more, char*));
  return all;
}

using Attributes = In<posix_spawnattr_t>;

// call(child) is one of the posix_spawn family. The C library blocks all signals in it, and its
// child has no handlers of faults: neither may reach shared memory, also not a stack there. So all
// that they are given is copied on the thread's private stack, where private memory is allocated.
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
  return on_own_stack([=] {
    InCommand own(command);
    return with_environment([&] { return next<"system">(::system)(own.get()); });
  });
}

FILE* popen(const char* command, const char* mode) {
  ForNode memory;
  return adopt(on_own_stack([=] {
    InCommand own(command);
    std::string own_mode = mode;
    return with_environment([&] { return next<"popen">(::popen)(own.get(), own_mode.c_str()); });
  }));
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  return spawn(process, [=](pid_t* child) {
    InPath own(path);
    InStrings own_arguments(arguments), own_environment(environment);
    Actions own_actions(actions);
    Attributes own_attributes(attributes);
    return next<"posix_spawn">(::posix_spawn)(child, own.get(), own_actions.get(),
                                              own_attributes.get(), own_arguments.get(),
                                              own_environment.get());
  });
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) {
  if (!SharedRange::exists())
    return next<"posix_spawnp">(::posix_spawnp)(process, file, actions, attributes, arguments,
                                                environment);
  std::string program = on_own_stack([=] { return find_program(file); });
  return posix_spawn(process, program.c_str(), actions, attributes, arguments, environment);
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  InPath own(path);
  Executing* executing = Executing::get();
  if (executing != nullptr && executing->fails(own.get(), arguments, environment)) return -1;
  InStrings own_arguments(arguments), own_environment(environment);
  return next<"execve">(::execve)(own.get(), own_arguments.get(), own_environment.get());
}

int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  if (Executing::get() == nullptr) {
    InPath own(file);
    InStrings own_arguments(arguments), own_environment(environment);
    return next<"execvpe">(::execvpe)(own.get(), own_arguments.get(), own_environment.get());
  }
  std::string program = on_own_stack([=] { return find_program(file); });
  if (!program.empty()) return execve(program.c_str(), arguments, environment);
  errno = ENOENT;
  return -1;
}

int execl(const char* path, const char* first, ...) noexcept {
  va_list more;
  va_start(more, first);
  std::vector<char*> arguments = list_of(first, more);
  va_end(more);
  return execve(path, arguments.data(), environ);
}

int execlp(const char* file, const char* first, ...) noexcept {
  va_list more;
  va_start(more, first);
  std::vector<char*> arguments = list_of(first, more);
  va_end(more);
  return execvpe(file, arguments.data(), environ);
}

int execle(const char* path, const char* first, ...) noexcept {
  va_list more;
  va_start(more, first);
  std::vector<char*> arguments = list_of(first, more);
  char* const* environment = va_arg(more, char* const*);
  va_end(more);
  return execve(path, arguments.data(), environment);
}

}  // extern "C"
#pragma GCC visibility pop
