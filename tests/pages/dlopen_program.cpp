// A program that is not linked with the library and loads it by dlopen. Usage:
//   dlopen_program LIBRARY calls         reads from a file into a page that is not present here
//   dlopen_program LIBRARY no_calls      does so, and finds that it cannot
#include <dlfcn.h>
#include <fcntl.h>
#include <terrane/pages.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void* library = nullptr;

template <typename Function>
Function* of_library(const char* name, Function&) {
  auto* found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) std::exit(4);
  return found;
}
#define OF_LIBRARY(name) of_library(#name, name)

int bad(const char* what) {
  std::fprintf(stderr, "%s; errno %d\n", what, errno);
  return 9;
}

int check_read(char* page, bool served) {
  int fd = open("/dev/zero", O_RDONLY);
  ssize_t got = read(fd, page, 4096);
  if (served && got != 4096) return bad("the read was not served");
  if (!served && (got != -1 || errno != EFAULT)) return bad("the read was served");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  if (std::getenv("LD_PRELOAD") != nullptr) return bad("LD_PRELOAD is left to children");
  library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return bad(dlerror());
  if (OF_LIBRARY(terrane_init)() != TERRANE_OK) return bad(OF_LIBRARY(terrane_error)());
  bool served = std::strcmp(argv[2], "calls") == 0;
  terrane_alloc_options options{TERRANE_HOMES_EXPLICIT, 1, "test"};
  auto* page = static_cast<char*>(OF_LIBRARY(terrane_alloc_all)(4096, &options));
  OF_LIBRARY(terrane_barrier)();
  int result = OF_LIBRARY(terrane_node)() == 0 ? check_read(page, served) : 0;
  OF_LIBRARY(terrane_finalize)();
  if (result == 0) std::puts("good");
  return result;
}
