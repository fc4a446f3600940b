// Calls that take paths, and those that tell of files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/transfer.h"

using namespace terrane::frontend;

namespace {

bool takes_mode(int flags) { return (flags & (O_CREAT | O_TMPFILE)) != 0; }

// It may wait: for the other end of a pipe with a name.
template <typename Call>
int open_file(Call call, const char* path) {
  return adopt(cancellable([=] { return call(InPath(path).get()); }));
}

// The path that the call fills in is written like any other bytes.
template <typename Call>
ssize_t read_link(char* to, std::size_t bytes, Call call) {
  if (!SharedRange::contains(to)) return call(to, bytes);
  return receive(-1, to, bytes, [=](void* own, std::size_t n, std::size_t) {
    return call(static_cast<char*>(own), n);
  });
}

// openat(2) on another node.
int open_in(int folder, const char* path, int flags, mode_t mode) {
  return ::openat(folder, path, flags, mode);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = takes_mode(flags) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (is_elsewhere(folder)) return call_elsewhere(folder, open_in, folder, path, flags, mode);
  return open_file(
      [=](const char* own) { return next<"openat">(::openat)(folder, own, flags, mode); }, path);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = takes_mode(flags) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (is_elsewhere(folder)) return call_elsewhere(folder, open_in, folder, path, flags, mode);
  return open_file(
      [=](const char* own) { return next<"openat64">(::openat64)(folder, own, flags, mode); },
      path);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = takes_mode(flags) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_file([=](const char* own) { return next<"open">(::open)(own, flags, mode); }, path);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = takes_mode(flags) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_file([=](const char* own) { return next<"open64">(::open64)(own, flags, mode); },
                   path);
}

int creat(const char* path, mode_t mode) {
  return open_file([=](const char* own) { return next<"creat">(::creat)(own, mode); }, path);
}

// The number that dirfd gives says its node.
DIR* opendir(const char* path) {
  ForNode memory;
  if (Elsewhere::get() == nullptr) return next<"opendir">(::opendir)(InPath(path).get());
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  DIR* opened = next<"fdopendir">(::fdopendir)(fd);
  if (opened == nullptr) close(fd);
  return opened;
}

ssize_t readlink(const char* path, char* to, size_t bytes) noexcept {
  InPath own(path);
  return read_link(to, bytes, [&](char* at, size_t n) {
    return next<"readlink">(::readlink)(own.get(), at, n);
  });
}

ssize_t readlinkat(int folder, const char* path, char* to, size_t bytes) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::readlinkat, folder, path, to, bytes);
  InPath own(path);
  return read_link(to, bytes, [&](char* at, size_t n) {
    return next<"readlinkat">(::readlinkat)(folder, own.get(), at, n);
  });
}

char* getcwd(char* to, size_t bytes) noexcept {
  auto* call = next<"getcwd">(::getcwd);
  if (!SharedRange::contains(to)) {
    ForCaller memory;
    return call(to, bytes);
  }
  char own[PATH_MAX];
  if (call(own, std::min(bytes, sizeof own)) == nullptr) return nullptr;
  if (terrane::platform::guarded_copy(to, own, std::strlen(own) + 1)) return to;
  errno = EFAULT;
  return nullptr;
}

}  // extern "C"
#pragma GCC visibility pop
