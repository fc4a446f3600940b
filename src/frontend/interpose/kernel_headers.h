#pragma once

// The headers of the functions in table_calls.cpp.
#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

// What compilers call where _FORTIFY_SOURCE is set.
extern "C" {
[[noreturn]] void __chk_fail() noexcept;
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vdprintf_chk(int, int, const char*, va_list);
}

namespace terrane::frontend::made {

inline bool items_fit(std::size_t room, std::size_t size, std::size_t count) {
  std::size_t bytes = 0;
  return !__builtin_mul_overflow(size, count, &bytes) && bytes <= room;
}

// Whether open(2) with these flags has a mode.
inline bool needs_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace terrane::frontend::made
