// Regions with sequential consistency by the interface: allocations that come and go, threads that
// wait for variables, system calls, memory beyond one page. Says "good" on every node, or what went
// wrong.
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "program.h"

using namespace terrane::pages_test;

namespace {

using Word = std::atomic<std::uint64_t>;

template <typename T>
T* sequential(std::size_t count, terrane_homes homes = TERRANE_HOMES_FIRST_TOUCH) {
  terrane_alloc_options options{};
  options.homes = homes;
  options.protocol = TERRANE_PROTOCOL_SC;
  void* at = terrane_alloc_all(count * sizeof(T), &options);
  EXPECT(at != nullptr);
  return static_cast<T*>(at);
}

auto self() { return static_cast<std::uint64_t>(terrane_node()); }
auto nodes() { return static_cast<std::uint64_t>(terrane_nodes()); }

void wait_for(const Word& word, std::uint64_t value) {
  while (word.load() != value) sched_yield();
}

// A token goes round all threads of all nodes; what it is told of is written by plain stores.
void rounds() {
  constexpr std::uint64_t kThreads = 2, kRounds = 8;
  Word* token = sequential<Word>(1);
  auto* data = sequential<std::uint64_t>(3 * kPage / sizeof(std::uint64_t));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      std::uint64_t all = nodes() * kThreads;
      for (std::uint64_t turn = self() * kThreads + t; turn < kRounds * all; turn += all) {
        wait_for(*token, turn);
        for (std::size_t i = 0; i < 3; ++i) {
          std::uint64_t& word = data[i * kPage / sizeof(std::uint64_t)];
          EXPECT(word == turn * (i + 1));
          word += i + 1;
        }
        token->store(turn + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  terrane_barrier();
}

// What was freed comes again as zeros, whoever had it.
void lives() {
  for (std::uint64_t life = 0; life < 6; ++life) {
    Word* words = sequential<Word>(8 * kPage / sizeof(Word), TERRANE_HOMES_CYCLIC);
    for (std::size_t p = 0; p < 8; ++p) {
      Word& word = words[p * kPage / sizeof(Word) + 1];
      EXPECT(word.load() < nodes());
      word.fetch_add(1);
    }
    terrane_barrier();
    for (std::size_t p = 0; p < 8; ++p) EXPECT(words[p * kPage / sizeof(Word) + 1] == nodes());
    terrane_barrier();
    if (self() == life % nodes()) EXPECT(terrane_free(words) == TERRANE_OK);
    terrane_barrier();
  }
}

// The kernel gets bytes that another node holds, and stores where another node has written.
void calls() {
  auto* bytes = sequential<unsigned char>(2 * kPage, TERRANE_HOMES_BLOCK);
  Word* turn = sequential<Word>(1);
  constexpr std::size_t kFrom = kPage - 100, kBytes = 200;
  for (std::uint64_t round = 0; round < 4 * nodes(); ++round) {
    if (round % nodes() == self()) {
      wait_for(*turn, round);
      int ends[2];
      EXPECT(pipe(ends) == 0);
      EXPECT(write(ends[1], bytes + kFrom, kBytes) == static_cast<ssize_t>(kBytes));
      unsigned char there[kBytes];
      EXPECT(read(ends[0], there, kBytes) == static_cast<ssize_t>(kBytes));
      for (unsigned char& byte : there) EXPECT(byte++ == round);
      EXPECT(write(ends[1], there, kBytes) == static_cast<ssize_t>(kBytes));
      EXPECT(read(ends[0], bytes + kFrom, kBytes) == static_cast<ssize_t>(kBytes));
      close(ends[0]);
      close(ends[1]);
      turn->store(round + 1);
    }
  }
  terrane_barrier();
}

// A table larger than what others of these tests use, read by all and written by one after the
// other; eviction leaves it alone.
void table() {
  constexpr std::size_t kPages = 300;
  Word* words = sequential<Word>(kPages * kPage / sizeof(Word), TERRANE_HOMES_CYCLIC);
  for (std::uint64_t writer = 0; writer < nodes(); ++writer) {
    if (writer == self())
      for (std::size_t p = 0; p < kPages; ++p) words[p * kPage / sizeof(Word)].fetch_add(p + 1);
    terrane_barrier();
    EXPECT(terrane_evict(words, kPages * kPage) == TERRANE_OK);
    for (std::size_t p = 0; p < kPages; ++p)
      EXPECT(words[p * kPage / sizeof(Word)].load() == (p + 1) * (writer + 1));
    terrane_barrier();
  }
  EXPECT(terrane_touch(words, kPages * kPage, TERRANE_WRITE) == TERRANE_OK);
}

// Both kinds side by side: locks are for the one, atomics for the other.
void mixed() {
  auto* locked = allocate_all<std::uint64_t>(1);
  Word* atomic = sequential<Word>(1);
  for (int i = 0; i < 50; ++i) {
    terrane_lock(3);
    *locked += 1;
    terrane_unlock(3);
    atomic->fetch_add(1);
  }
  terrane_barrier();
  EXPECT(*locked == 50 * nodes() && *atomic == 50 * nodes());
  terrane_barrier();
}

}  // namespace

int main() {
  if (terrane_init() != TERRANE_OK) return 3;
  rounds();
  lives();
  calls();
  table();
  mixed();
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
