// Nodes of the first half write pages, and those of the second half read all of them, round by
// round. Usage: pushes_program ROUNDS. What crosses between the halves is counted by `--stats`.
#include "../pages/program.h"

using namespace terrane::pages_test;

int main(int, char** arguments) {
  constexpr std::size_t kPages = 192, kWords = kPage / sizeof(std::uint64_t);
  std::uint64_t rounds = std::strtoull(arguments[1], nullptr, 10);
  EXPECT(terrane_init() == 0);
  auto* words = static_cast<std::uint64_t*>(terrane_alloc_all(kPages * kPage, nullptr));
  EXPECT(words != nullptr);
  auto self = static_cast<std::size_t>(terrane_node());
  auto writers = static_cast<std::size_t>(terrane_nodes()) / 2;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    bool writes = self < writers;
    std::size_t first = kPages * self / writers, end = kPages * (self + 1) / writers;
    for (std::size_t i = first * kWords; writes && i < end * kWords; ++i)
      words[i] = round * kPages * kWords + i;
    EXPECT(terrane_barrier() == 0);
    for (std::size_t page = 0; !writes && page < kPages; ++page)
      EXPECT(at(words, page * kWords) == round * kPages * kWords + page * kWords);
    EXPECT(terrane_barrier() == 0);
  }
  EXPECT(terrane_finalize() == 0);
  std::puts("good");
  return 0;
}
