#pragma once

#include <terrane/pages.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// What the programs of these tests share.
namespace terrane::pages_test {

constexpr std::size_t kPage = 4096;

[[noreturn]] inline void bad(const char* what, int line) {
  int error = errno;
  int node = terrane_node();  // before terrane_error(), whose text lasts until the next call
  std::fprintf(stderr, "node %d line %d: %s; last error: %s; errno %d (%s)\n", node, line, what,
               terrane_error(), error, std::strerror(error));
  std::_Exit(9);
}
#define EXPECT(condition) \
  if (!(condition)) terrane::pages_test::bad(#condition, __LINE__)

inline bool error_says(const char* part) { return std::strstr(terrane_error(), part) != nullptr; }

// On the last node: its home is another node's, where there are several.
template <typename T>
T* allocate_all(std::size_t count, std::uint32_t home = 0) {
  terrane_alloc_options options{TERRANE_HOMES_EXPLICIT, home, "test"};
  void* address = terrane_alloc_all(count * sizeof(T), &options);
  EXPECT(address != nullptr);
  return static_cast<T*>(address);
}

template <typename T>
volatile T& at(T* base, std::size_t index) {
  return *static_cast<volatile T*>(base + index);
}

}  // namespace terrane::pages_test
