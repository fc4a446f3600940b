// Nodes that wait to be looked at by a debugger. Says "PROCESS is node N" when they do.
#include <unistd.h>

#include "program.h"

using namespace terrane::pages_test;

extern "C" {
int* numbers = nullptr;
int own = 5;
}

int main() {
  EXPECT(terrane_init() == TERRANE_OK);
  auto node = static_cast<std::size_t>(terrane_node());
  auto nodes = static_cast<std::size_t>(terrane_nodes());
  constexpr std::size_t kStep = kPage / sizeof(int);
  terrane_alloc_options options{};
  options.homes = TERRANE_HOMES_CYCLIC;
  numbers = static_cast<int*>(terrane_alloc_all(nodes * kPage, &options));
  EXPECT(numbers != nullptr);
  for (int round = 1; round <= 7; ++round) {
    at(numbers, node * kStep) = round * 10;
    terrane_barrier();
    // Its copy is old when the home writes again.
    if (round == 1) EXPECT(at(numbers, (node + 1) % nodes * kStep) == 10);
    terrane_barrier();
  }
  std::printf("%d is node %zu.\n", static_cast<int>(::getpid()), node);
  std::fflush(stdout);
  ::pause();
  EXPECT(terrane_finalize() == TERRANE_OK);
}
