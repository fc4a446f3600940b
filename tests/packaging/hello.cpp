// examples/hello_cmake/hello.c in C++: the installed header must serve both languages.
#include <terrane/pages.h>

#include <cstdio>
#include <span>

int main() {
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 1;
  const int node = terrane_node();
  const int nodes = terrane_nodes();
  auto* numbers = static_cast<int*>(terrane_alloc_all(nodes * sizeof(int), nullptr));
  if (numbers == nullptr) return 1;
  numbers[node] = node;
  terrane_barrier();
  if (node == 0) {
    for (int number : std::span(numbers, nodes))
      std::printf("hello from node %d of %d\n", number, nodes);
  }
  return terrane_finalize() == TERRANE_OK ? 0 : 1;
}
