#!/bin/sh
# Copying a std::shared_ptr inside a shared library reads a byte of the program's own static data.
#
# Version: g++ 12.2.0-14+deb12u1, libstdc++6 12.2.0-14+deb12u1 and libc6 2.36-9+deb12u14 of Debian 12, x86-64.
# Input: a library that copies a shared_ptr, and a program that copies one as well (-z now, as packages have it).
# What one would guess: the count is the library's memory and the C library's; nothing of the program is touched.
# Seen: libstdc++ asks __libc_single_threaded whether a plain addition will do. The program has it by a COPY relocation,
# so the one of all libraries lies in the program's .bss, and where that page is a new one, untouched, the copy in the
# library makes it present.
# For our users: a thread that replaces the pages of a program's static data must not copy a shared_ptr before they are
# watched; a page of zeros appeared on other nodes (src/platform/uffd_source.cpp; PaneTest.NobodyHasAccessBeforeASource
# Watches).
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 if these versions are not there.
set -eu
[ "$(dpkg-query -W -f '${Version}' g++-12 2>/dev/null)" = 12.2.0-14+deb12u1 ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >library.cpp <<'C'
#include <memory>
static std::shared_ptr<int> kept = std::make_shared<int>(7);
extern "C" int copies() {
  std::shared_ptr<int> copy = kept;
  return *copy;
}
C
cat >program.cpp <<'C'
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>

extern "C" int copies();
extern char __bss_start, _end;

int main() {
  auto mine = std::make_shared<int>(1);
  auto again = mine;  // so the program has the variable
  auto* at = reinterpret_cast<char*>(&__libc_single_threaded);
  bool is_ours = at >= &__bss_start && at < &_end;
  std::printf("__libc_single_threaded lies in the program's .bss: %s\n", is_ours ? "yes" : "no");
  auto* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{4095});
  pid_t child = fork();
  if (child == 0) {
    unsigned char before = 1, after = 0;
    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    mincore(page, 4096, &before);
    copies();
    mincore(page, 4096, &after);
    _exit((before & 1) == 0 && (after & 1) == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  bool reads = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::printf("the library's copy makes that page present: %s\n", reads ? "yes" : "no");
  return is_ours && reads ? 0 : 1;
}
C
g++-12 -O1 -fPIC -shared library.cpp -o liblibrary.so
g++-12 -O1 program.cpp -o program -L. -llibrary -Wl,-rpath,"$folder" -Wl,-z,now
./program
