#pragma once

#include <shmem.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

// What the programs of these tests share: a program runs the mode that its argument names, and
// prints "good" when all went well.
namespace terrane::shmem_test {

[[noreturn]] inline void bad(const char* what, int line) {
  std::fprintf(stderr, "line %d: %s; errno %d (%s)\n", line, what, errno, std::strerror(errno));
  std::_Exit(9);
}
#define EXPECT(condition) \
  if (!(condition)) terrane::shmem_test::bad(#condition, __LINE__)

struct Mode {
  std::string_view name;
  void (*run)();
};

template <std::size_t Count>
int run_mode(const Mode (&modes)[Count], int argc, char** argv) {
  for (const Mode& mode : modes) {
    if (argc < 2 || mode.name != argv[1]) continue;
    mode.run();
    std::puts("good");
    return 0;
  }
  std::fprintf(stderr, "no such mode\n");
  return 2;
}

}  // namespace terrane::shmem_test
