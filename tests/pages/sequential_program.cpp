// Regions with sequential consistency by the interface: allocations that come and go, threads that
// wait for variables, system calls, memory beyond one page; or, with a number of MiB as argument,
// one region that is larger than a node's memory. Says "good" on every node, or what went wrong.
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

// A token goes round all threads of all nodes. It orders data that is written by plain stores.
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

// What was freed comes again as zeros, whichever node had it.
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

std::uint64_t evicted() {
  terrane_counters now{};
  EXPECT(terrane_read_counters(&now) == TERRANE_OK);
  return now.pages_evicted;
}

// A table larger than what others of these tests use. All nodes read it; one after the other writes
// it and then gives it back.
void table() {
  constexpr std::size_t kPages = 300;
  Word* words = sequential<Word>(kPages * kPage / sizeof(Word), TERRANE_HOMES_CYCLIC);
  for (std::uint64_t writer = 0; writer < nodes(); ++writer) {
    if (writer == self())
      for (std::size_t p = 0; p < kPages; ++p) words[p * kPage / sizeof(Word)].fetch_add(p + 1);
    terrane_barrier();
    std::uint64_t before = evicted();
    EXPECT(terrane_evict(words, kPages * kPage) == TERRANE_OK);
    EXPECT(writer != self() || nodes() == 1 || evicted() - before >= kPages / nodes() / 4);
    terrane_barrier();
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

// Everybody reads the table, each beginning somewhere else.
template <typename Value>
void expect_all(const Word* table, std::size_t count, Value value) {
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = (i + count / nodes() * self()) % count;
    EXPECT(table[at].load(std::memory_order_relaxed) == value(at));
  }
  terrane_barrier();
}

// Filled by one node, then by all; then every page is changed by every thread, and so are the words
// that lie across two pages.
void beyond(std::size_t mebibytes) {
  constexpr std::size_t kThreads = 2, kWords = kPage / sizeof(Word);
  static constexpr std::uint64_t kAcross = 0x0101010101010101;
  const std::size_t count = (mebibytes << 20) / sizeof(Word);
  Word* table = sequential<Word>(count, TERRANE_HOMES_CYCLIC);
  auto fill = [&](std::size_t first, std::size_t end, std::uint64_t by) {
    for (std::size_t i = first; i < end; ++i) table[i].store(i * by, std::memory_order_relaxed);
  };
  if (self() == 0) fill(0, count, 3);
  terrane_barrier();
  expect_all(table, count, [](std::size_t at) { return at * 3; });
  std::size_t part = count / nodes();
  fill(part * self(), self() + 1 == nodes() ? count : part * (self() + 1), 5);
  terrane_barrier();
  expect_all(table, count, [](std::size_t at) { return at * 5; });
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      std::size_t me = self() * kThreads + t;
      for (std::size_t i = me * 37; i < me * 37 + count / kWords; ++i) {
        std::size_t page = i % (count / kWords);
        table[page * kWords + 1].fetch_add(1);
        auto* bytes = reinterpret_cast<std::byte*>(table) + page * kPage;
        if (page > 0) std::memcpy(bytes - 4, &kAcross, sizeof kAcross);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  terrane_barrier();
  expect_all(table, count, [&](std::size_t at) {
    std::uint64_t value = at * 5;
    if (at % kWords == 0 && at > 0) value = (value >> 32 << 32) | (kAcross & 0xffffffff);
    if (at % kWords == 1) value += nodes() * kThreads;
    if ((at + 1) % kWords == 0 && at + 1 < count)
      value = (value & 0xffffffff) | kAcross >> 32 << 32;
    return value;
  });
  EXPECT(evicted() > 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  if (argc > 1 && *argv[1] != '\0') {
    beyond(static_cast<std::size_t>(std::atoi(argv[1])));
  } else {
    rounds();
    lives();
    calls();
    table();
    mixed();
  }
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
