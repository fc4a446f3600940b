// Calls about a process's limits, its rights, its processors and its memory.
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using namespace terrane::frontend;

namespace {

std::size_t groups_bytes(int count) {
  return count <= 0 ? 0 : static_cast<std::size_t>(count) * sizeof(gid_t);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* to) noexcept {
  OutBytes own(to, bytes);
  auto* call = next<"sched_getaffinity">(::sched_getaffinity);
  return own.done(call(process, bytes, static_cast<cpu_set_t*>(own.get())), bytes);
}

int sched_setaffinity(pid_t process, size_t bytes, const cpu_set_t* set) noexcept {
  InBytes own(set, bytes);
  auto* call = next<"sched_setaffinity">(::sched_setaffinity);
  return call(process, bytes, static_cast<const cpu_set_t*>(own.get()));
}

int getgroups(int count, gid_t* to) noexcept {
  OutBytes own(to, groups_bytes(count));
  int result = next<"getgroups">(::getgroups)(count, static_cast<gid_t*>(own.get()));
  return own.done(result, count == 0 ? 0 : groups_bytes(result));
}

int getentropy(void* to, size_t bytes) {
  constexpr std::size_t kMost = 256;
  OutBytes own(to, std::min(bytes, kMost));
  return own.done(next<"getentropy">(::getentropy)(own.get(), bytes), bytes);
}

// The C library's own ends the process where the kernel cannot write to the buffer.
void arc4random_buf(void* to, size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    ssize_t got = getrandom(static_cast<std::byte*>(to) + done, bytes - done, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) abort();
    done += static_cast<std::size_t>(got);
  }
}

int ttyname_r(int fd, char* to, size_t bytes) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ttyname_r, fd, to, bytes);
  OutBytes own(to, std::min<std::size_t>(bytes, PATH_MAX));
  int error = next<"ttyname_r">(::ttyname_r)(fd, static_cast<char*>(own.get()), bytes);
  if (error != 0 || own.get() == to) return error;
  return own.done(0, std::strlen(static_cast<char*>(own.get())) + 1) == 0 ? 0 : EFAULT;
}

int mincore(void* address, size_t bytes, unsigned char* to) noexcept {
  auto page = static_cast<std::size_t>(getpagesize());
  std::size_t pages = bytes / page + (bytes % page != 0 ? 1 : 0);
  OutBytes own(to, pages);
  auto* call = next<"mincore">(::mincore);
  return own.done(call(address, bytes, static_cast<unsigned char*>(own.get())), pages);
}

}  // extern "C"
#pragma GCC visibility pop
