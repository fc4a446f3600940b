// The program that faults are injected into: barriers, locks and pages until something ends it.
//
// Usage: fault_program [--grow | --wait | --rounds N]
// --grow: each round allocates, until memory is at its end. --wait: all nodes but the last one wait
// in a barrier for ever. --rounds: after N rounds the program checks what they counted, and ends.
#include <terrane/pages.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPagesEach = 4;
// Few rounds: on a busy machine each barrier of one takes tenths of a second.
constexpr std::size_t kGrowth = 1024 * kPage;
constexpr std::uint32_t kLock = 3;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "fault_program: %s: %s\n", what, terrane_error());
  std::exit(9);
}

volatile std::uint64_t* allocate(std::size_t bytes) {
  terrane_alloc_options cyclic{TERRANE_HOMES_CYCLIC, 0, "faults"};
  void* memory = terrane_alloc_all(bytes, &cyclic);
  if (memory == nullptr) fail("allocation");
  return static_cast<volatile std::uint64_t*>(memory);
}

volatile std::uint64_t& word(volatile std::uint64_t* table, std::size_t page) {
  return table[page * (kPage / sizeof *table)];
}

// Everybody writes pages of others' homes, and reads what the next one wrote.
void exchange_pages(volatile std::uint64_t* table, std::uint64_t round) {
  auto self = static_cast<std::size_t>(terrane_node());
  auto nodes = static_cast<std::size_t>(terrane_nodes());
  for (std::size_t i = 0; i < kPagesEach; ++i) word(table, self * kPagesEach + i) = round + i;
  if (terrane_barrier() != TERRANE_OK) fail("barrier");
  std::size_t next = (self + 1) % nodes;
  for (std::size_t i = 0; i < kPagesEach; ++i) {
    if (word(table, next * kPagesEach + i) != round + i) fail("a page holds what nobody wrote");
  }
}

void count(volatile std::uint64_t* counter) {
  if (terrane_lock(kLock) != TERRANE_OK) fail("lock");
  *counter = *counter + 1;
  if (terrane_unlock(kLock) != TERRANE_OK) fail("unlock");
}

void grow() {
  volatile std::uint64_t* more = allocate(kGrowth);
  auto self = static_cast<std::size_t>(terrane_node());
  auto nodes = static_cast<std::size_t>(terrane_nodes());
  for (std::size_t page = self; page < kGrowth / kPage; page += nodes) word(more, page) = page;
}

void say(const char* word) {
  std::puts(word);
  std::fflush(stdout);
}

void wait_for_ever() {
  if (terrane_node() == 0) say("waiting");
  while (terrane_node() == terrane_nodes() - 1) ::pause();
  terrane_barrier();
}

}  // namespace

int main(int argc, char** argv) {
  bool growing = argc > 1 && std::strcmp(argv[1], "--grow") == 0;
  bool waiting = argc > 1 && std::strcmp(argv[1], "--wait") == 0;
  bool ends = argc > 2 && std::strcmp(argv[1], "--rounds") == 0;
  std::uint64_t rounds = ends ? std::strtoull(argv[2], nullptr, 10) : ~std::uint64_t{0};
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 1;
  if (waiting) wait_for_ever();
  auto pages = static_cast<std::size_t>(terrane_nodes()) * kPagesEach;
  volatile std::uint64_t* table = allocate(pages * kPage);
  volatile std::uint64_t* counter = allocate(kPage);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    exchange_pages(table, round);
    count(counter);
    if (growing) grow();
    if (terrane_barrier() != TERRANE_OK) fail("barrier");
    if (round == 1 && terrane_node() == 0) say("up");
  }
  auto nodes = static_cast<std::uint64_t>(terrane_nodes());
  if (*counter != nodes * rounds) fail("the count is wrong");
  if (terrane_finalize() != TERRANE_OK) fail("finalize");
  say("good");
}
