// ioctl(2) and fcntl(2): what their argument points to, as far as its size is known.
#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstdarg>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using namespace terrane::frontend;

namespace {

// Requests from before the size was part of the number.
std::size_t old_request_bytes(unsigned long request) {
  switch (request) {
    case FIONREAD:
    case FIONBIO:
    case FIOASYNC:
    case TIOCOUTQ:
    case TIOCGPGRP:
    case TIOCSPGRP:
    case TIOCGSID:
      return sizeof(int);
    case TIOCGWINSZ:
    case TIOCSWINSZ:
      return sizeof(winsize);
    case TCGETS:
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
      return 36;  // the kernel's struct termios, not the C library's
    default:
      return 0;
  }
}

std::size_t request_bytes(unsigned long request) {
  std::size_t old = old_request_bytes(request);
  if (old != 0 || _IOC_DIR(request) == _IOC_NONE) return old;
  return _IOC_SIZE(request);
}

std::size_t command_bytes(int command) {
  switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
      return sizeof(struct flock);
    case F_GETOWN_EX:
    case F_SETOWN_EX:
      return sizeof(f_owner_ex);
    default:
      return 0;
  }
}

// The two calls below, on another node.
int control(int fd, unsigned long request, void* argument) { return ioctl(fd, request, argument); }
int command_file(int fd, int command, void* argument) { return fcntl(fd, command, argument); }

int command_of_file(int fd, int command, void* argument) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, command_file, fd, command, argument);
  auto* call = next<"fcntl">(::fcntl);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return adopt(call(fd, command, argument));
  std::size_t bytes = SharedRange::contains(argument) ? command_bytes(command) : 0;
  if (bytes == 0) return call(fd, command, argument);
  OutBytes own(argument, bytes);
  return own.done(call(fd, command, own.get()), bytes);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list more;
  va_start(more, request);
  void* argument = va_arg(more, void*);
  va_end(more);
  if (is_elsewhere(fd)) return call_elsewhere(fd, control, fd, request, argument);
  auto* call = next<"ioctl">(::ioctl);
  std::size_t bytes = SharedRange::contains(argument) ? request_bytes(request) : 0;
  if (bytes == 0) return call(fd, request, argument);
  OutBytes own(argument, bytes);
  return own.done(call(fd, request, own.get()), bytes);
}

int fcntl(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* argument = va_arg(more, void*);
  va_end(more);
  if (command == F_SETLKW || command == F_OFD_SETLKW)
    return cancellable([=] { return command_of_file(fd, command, argument); });
  return command_of_file(fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* argument = va_arg(more, void*);
  va_end(more);
  return fcntl(fd, command, argument);
}

}  // extern "C"
#pragma GCC visibility pop
