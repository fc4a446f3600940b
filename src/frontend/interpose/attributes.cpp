// Extended attributes of files.
#include <sys/xattr.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::InBytes;
using terrane::frontend::InPath;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::OutBytes;

namespace {

// call(bytes) fills in at most `room` bytes and returns how many; 0 bytes of room: how many it has.
template <typename Call>
ssize_t fill(void* to, std::size_t room, Call call) {
  OutBytes own(to, std::min<std::size_t>(room, 65536));  // XATTR_SIZE_MAX, XATTR_LIST_MAX
  ssize_t result = call(own.get());
  return own.done(result, room == 0 || result < 0 ? 0 : static_cast<std::size_t>(result));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t getxattr(const char* path, const char* name, void* to, size_t room) noexcept {
  auto* call = next<"getxattr">(::getxattr);
  InPath own(path), own_name(name);
  return fill(to, room, [&](void* at) { return call(own.get(), own_name.get(), at, room); });
}

ssize_t lgetxattr(const char* path, const char* name, void* to, size_t room) noexcept {
  auto* call = next<"lgetxattr">(::lgetxattr);
  InPath own(path), own_name(name);
  return fill(to, room, [&](void* at) { return call(own.get(), own_name.get(), at, room); });
}

ssize_t fgetxattr(int fd, const char* name, void* to, size_t room) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fgetxattr, fd, name, to, room);
  auto* call = next<"fgetxattr">(::fgetxattr);
  InPath own_name(name);
  return fill(to, room, [&](void* at) { return call(fd, own_name.get(), at, room); });
}

ssize_t listxattr(const char* path, char* to, size_t room) noexcept {
  auto* call = next<"listxattr">(::listxattr);
  InPath own(path);
  return fill(to, room, [&](void* at) { return call(own.get(), static_cast<char*>(at), room); });
}

ssize_t llistxattr(const char* path, char* to, size_t room) noexcept {
  auto* call = next<"llistxattr">(::llistxattr);
  InPath own(path);
  return fill(to, room, [&](void* at) { return call(own.get(), static_cast<char*>(at), room); });
}

ssize_t flistxattr(int fd, char* to, size_t room) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::flistxattr, fd, to, room);
  auto* call = next<"flistxattr">(::flistxattr);
  return fill(to, room, [&](void* at) { return call(fd, static_cast<char*>(at), room); });
}

int setxattr(const char* path, const char* name, const void* value, size_t bytes,
             int flags) noexcept {
  InPath own(path), own_name(name);
  InBytes own_value(value, bytes);
  auto* call = next<"setxattr">(::setxattr);
  return call(own.get(), own_name.get(), own_value.get(), bytes, flags);
}

int lsetxattr(const char* path, const char* name, const void* value, size_t bytes,
              int flags) noexcept {
  InPath own(path), own_name(name);
  InBytes own_value(value, bytes);
  auto* call = next<"lsetxattr">(::lsetxattr);
  return call(own.get(), own_name.get(), own_value.get(), bytes, flags);
}

int fsetxattr(int fd, const char* name, const void* value, size_t bytes, int flags) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fsetxattr, fd, name, value, bytes, flags);
  InPath own_name(name);
  InBytes own_value(value, bytes);
  return next<"fsetxattr">(::fsetxattr)(fd, own_name.get(), own_value.get(), bytes, flags);
}

int removexattr(const char* path, const char* name) noexcept {
  return next<"removexattr">(::removexattr)(InPath(path).get(), InPath(name).get());
}

int lremovexattr(const char* path, const char* name) noexcept {
  return next<"lremovexattr">(::lremovexattr)(InPath(path).get(), InPath(name).get());
}

int fremovexattr(int fd, const char* name) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fremovexattr, fd, name);
  return next<"fremovexattr">(::fremovexattr)(fd, InPath(name).get());
}

}  // extern "C"
#pragma GCC visibility pop
