// Each node fills a region that it allocates by itself. Usage: claims_program PAGES. What crosses
// between the clusters is counted by `--stats`.
#include "../pages/program.h"

using namespace terrane::pages_test;

int main(int, char** arguments) {
  constexpr std::size_t kWords = kPage / sizeof(std::uint64_t);
  std::size_t pages = std::strtoull(arguments[1], nullptr, 10);
  EXPECT(terrane_init() == 0);
  auto* words = static_cast<std::uint64_t*>(terrane_alloc(pages * kPage, nullptr));
  EXPECT(words != nullptr);
  for (std::size_t page = 0; page < pages; ++page) words[page * kWords] = page + 1;
  EXPECT(terrane_barrier() == 0);
  for (std::size_t page = 0; page < pages; ++page) EXPECT(words[page * kWords] == page + 1);
  EXPECT(terrane_barrier() == 0);
  EXPECT(terrane_finalize() == 0);
  std::puts("good");
  return 0;
}
