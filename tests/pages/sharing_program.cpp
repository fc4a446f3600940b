// Nodes that write to one page, or to one each. Usage: sharing_program counters | padded
#include "program.h"

using namespace terrane::pages_test;

int main(int argc, char** argv) {
  EXPECT(terrane_init() == TERRANE_OK);
  bool is_padded = argc > 1 && std::strcmp(argv[1], "padded") == 0;
  constexpr int kRounds = 2000;
  auto node = static_cast<std::size_t>(terrane_node());
  terrane_alloc_options options{};
  options.name = "counters";
  std::size_t step = is_padded ? kPage / sizeof(int) : 1;
  auto* counters = static_cast<int*>(terrane_alloc_all(8 * kPage, &options));
  EXPECT(counters != nullptr);
  for (int round = 0; round < kRounds; ++round) {
    at(counters, node * step) = at(counters, node * step) + 1;
    EXPECT(terrane_barrier() == TERRANE_OK);
  }
  EXPECT(at(counters, node * step) == kRounds);
  EXPECT(terrane_finalize() == TERRANE_OK);
  std::puts("good");
}
