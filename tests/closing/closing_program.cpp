// A program that closes all descriptors from 3 on in the way that its argument says, as daemons do,
// and then works on. Built for each front-end alone (FRONT_END).
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "front_end.h"

namespace {

constexpr int kLast = 200;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("not good: %s, errno %d\n", what, errno);
  std::fflush(stdout);
  std::_Exit(1);
}

void by_close() {
  for (int fd = 3; fd < kLast; ++fd) ::close(fd);
}
void by_close_range() { expect(::close_range(3, UINT_MAX, 0) == 0, "close_range"); }
void by_closefrom() { ::closefrom(3); }

// Puts its own file in the place of each: in that of the job's it cannot.
void by_dup2() {
  int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  int refused = 0;
  for (int fd = 3; fd < kLast; ++fd) {
    if (fd == file) continue;
    int result = fd % 2 == 0 ? ::dup2(file, fd) : ::dup3(file, fd, O_CLOEXEC);
    if (result < 0) ++refused;
    expect(result == fd || (result < 0 && errno == EBUSY), "dup2");
  }
  expect(refused > 0, "a descriptor of the job's");
  for (int fd = 3; fd < kLast; ++fd) ::close(fd);
}

// What the program itself has opened is closed, and its number is there for another.
void its_own() {
  int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  expect(::close(file) == 0, "close");
  expect(::close(file) != 0 && errno == EBADF, "close again");
  expect(::open("/dev/null", O_WRONLY | O_CLOEXEC) == file, "open");
  expect(::close(file) == 0, "close the second");
}

// A child may close all that it inherits.
void in_a_child() {
  pid_t child = ::fork();
  if (child == 0) {
    for (int fd = 3; fd < kLast; ++fd) ::close(fd);
    for (int fd = 3; fd < kLast; ++fd)
      if (::fcntl(fd, F_GETFD) >= 0) ::_exit(1);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  expect(status == 0, "the child's descriptors");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  struct Way {
    const char* name;
    void (*close)();
  };
  for (auto [name, close] :
       {Way{"close", by_close}, Way{"close_range", by_close_range}, Way{"closefrom", by_closefrom},
        Way{"dup2", by_dup2}, Way{"own", its_own}, Way{"child", in_a_child}}) {
    if (mode != name) continue;
    begin();
    for (int round = 0; round < 3; ++round) {
      expect(works(round), "the work before");
      close();
      expect(works(100 + round), "the work afterwards");
    }
    end();
    std::puts("good");
    return 0;
  }
  return 2;
}
