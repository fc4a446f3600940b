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

using terrane::frontend::adopt;
using terrane::frontend::Bounce;
using terrane::frontend::call_elsewhere;
using terrane::frontend::cancellable;
using terrane::frontend::ForCaller;
using terrane::frontend::ForNode;
using terrane::frontend::InPath;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::Out;
using terrane::frontend::receive;
using terrane::frontend::SharedRange;

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

int creat64(const char* path, mode_t mode) { return creat(path, mode); }

FILE* fopen(const char* path, const char* mode) {
  ForNode memory;
  return adopt(next<"fopen">(::fopen)(InPath(path).get(), mode));
}

FILE* fopen64(const char* path, const char* mode) {
  ForNode memory;
  return adopt(next<"fopen64">(::fopen64)(InPath(path).get(), mode));
}

// The number that dirfd gives says its node.
DIR* opendir(const char* path) {
  ForNode memory;
  if (terrane::frontend::Elsewhere::get() == nullptr)
    return next<"opendir">(::opendir)(InPath(path).get());
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  DIR* opened = next<"fdopendir">(::fdopendir)(fd);
  if (opened == nullptr) close(fd);
  return opened;
}

int stat(const char* path, struct stat* to) noexcept {
  Out<struct stat> own(to);
  return own.done(next<"stat">(::stat)(InPath(path).get(), own.get()));
}

int stat64(const char* path, struct stat64* to) noexcept {
  Out<struct stat64> own(to);
  return own.done(next<"stat64">(::stat64)(InPath(path).get(), own.get()));
}

int lstat(const char* path, struct stat* to) noexcept {
  Out<struct stat> own(to);
  return own.done(next<"lstat">(::lstat)(InPath(path).get(), own.get()));
}

int lstat64(const char* path, struct stat64* to) noexcept {
  Out<struct stat64> own(to);
  return own.done(next<"lstat64">(::lstat64)(InPath(path).get(), own.get()));
}

int fstat(int fd, struct stat* to) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fstat, fd, to);
  Out<struct stat> own(to);
  return own.done(next<"fstat">(::fstat)(fd, own.get()));
}

int fstat64(int fd, struct stat64* to) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fstat64, fd, to);
  Out<struct stat64> own(to);
  return own.done(next<"fstat64">(::fstat64)(fd, own.get()));
}

int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::fstatat, folder, path, to, flags);
  Out<struct stat> own(to);
  return own.done(next<"fstatat">(::fstatat)(folder, InPath(path).get(), own.get(), flags));
}

int fstatat64(int folder, const char* path, struct stat64* to, int flags) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::fstatat64, folder, path, to, flags);
  Out<struct stat64> own(to);
  return own.done(next<"fstatat64">(::fstatat64)(folder, InPath(path).get(), own.get(), flags));
}

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* to) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::statx, folder, path, flags, mask, to);
  Out<struct statx> own(to);
  return own.done(next<"statx">(::statx)(folder, InPath(path).get(), flags, mask, own.get()));
}

int access(const char* path, int mode) noexcept {
  return next<"access">(::access)(InPath(path).get(), mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return next<"mkdir">(::mkdir)(InPath(path).get(), mode);
}

int rmdir(const char* path) noexcept { return next<"rmdir">(::rmdir)(InPath(path).get()); }

int unlink(const char* path) noexcept { return next<"unlink">(::unlink)(InPath(path).get()); }

int rename(const char* from, const char* to) noexcept {
  return next<"rename">(::rename)(InPath(from).get(), InPath(to).get());
}

int remove(const char* path) noexcept { return next<"remove">(::remove)(InPath(path).get()); }

int truncate(const char* path, off_t bytes) noexcept {
  return next<"truncate">(::truncate)(InPath(path).get(), bytes);
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
