// Races on purpose: threads of all nodes load, store and add to words of regions with sequential
// consistency by ordinary atomics, without any lock or barrier, and tell of everything that no
// order of these operations explains. Now and then a thread evicts what its node has.
//
// Usage: sc_stress [--seconds S] [--threads T] [--seed N] [--pages P]
#include <terrane/pages.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"

namespace {

using Word = std::atomic<std::uint64_t>;

constexpr std::uint32_t kBarrier = 7;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kMostThreads = 64;
constexpr std::size_t kCounters = 16;
constexpr std::size_t kMostPages = 128;

struct Options {
  double seconds = 3;
  unsigned threads = 2;
  std::uint64_t seed = 1;
  std::uint64_t pages = 6;
};

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "sc_stress: %s: %s\n", what, terrane_error());
  std::exit(1);
}

template <typename T>
T* shared(std::size_t bytes, terrane_protocol protocol) {
  terrane_alloc_options options{};
  options.homes = TERRANE_HOMES_CYCLIC;
  options.protocol = protocol;
  void* at = terrane_alloc_all(bytes, &options);
  if (at == nullptr) die("allocation");
  return static_cast<T*>(at);
}

class Stress {
 public:
  explicit Stress(const Options& options)
      : options_(options),
        all_(static_cast<unsigned>(terrane_nodes()) * options.threads),
        bytes_(options.pages * kPage) {
    if (all_ > kMostThreads || options.pages < 2 || options.pages > kMostPages)
      die("at most 64 threads, 2 to 128 pages");
    table_ = shared<std::byte>(bytes_, TERRANE_PROTOCOL_SC);
    totals_ = shared<Totals>(sizeof(Totals) * all_, TERRANE_PROTOCOL_HLRC);
  }

  int run() {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < options_.threads; ++t) threads.emplace_back([this, t] { work(t); });
    for (std::thread& thread : threads) thread.join();
    return wrong_.load() == 0 ? 0 : 1;
  }

 private:
  // What a thread did, reported through ordinary shared memory; and what it stored in each page
  // last.
  struct Totals {
    std::uint64_t added[kCounters];
    std::uint64_t entered;
    std::uint64_t operations;
    std::uint64_t latest[kMostPages];
  };

  // Every page has a word of each kind for each thread, so that all pages are shared by all.
  Word& word(unsigned kind, std::size_t page, unsigned thread) const {
    std::size_t at = page * kPage + (kind * kMostThreads + thread) * sizeof(Word);
    return *reinterpret_cast<Word*>(table_ + at);
  }
  Word& counter(std::size_t c) const {
    return word(0, c % options_.pages, static_cast<unsigned>(c));
  }
  Word& first(unsigned thread) const { return word(1, thread % options_.pages, thread); }
  Word& second(unsigned thread) const { return word(2, (thread + 1) % options_.pages, thread); }
  Word& wish(unsigned thread) const { return word(3, thread % options_.pages, thread); }
  std::uint64_t* guarded() const { return reinterpret_cast<std::uint64_t*>(&word(4, 0, 0)); }
  Word& own(std::size_t page, unsigned thread) const { return word(5, page, thread); }
  // A word that lies across two pages, of one thread alone.
  std::byte* across(unsigned thread) const {
    return table_ + (1 + thread % (options_.pages - 1)) * kPage - 4;
  }

  void wrong(const char* what, std::uint64_t got, std::uint64_t expected) {
    if (wrong_.fetch_add(1) < 20)
      std::fprintf(stderr, "sc_stress: node %d: %s: %llu, not %llu\n", terrane_node(), what,
                   static_cast<unsigned long long>(got), static_cast<unsigned long long>(expected));
  }

  void work(unsigned thread) {
    unsigned me = static_cast<unsigned>(terrane_node()) * options_.threads + thread;
    terrane::base::Prng rng(options_.seed * 1000 + me);
    terrane_barrier_threads(kBarrier, options_.threads);
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    Totals mine{};
    while (std::chrono::steady_clock::now() < end) {
      for (int i = 0; i < 16; ++i, ++mine.operations) step(me, rng, mine);
    }
    totals_[me] = mine;
    terrane_barrier_threads(kBarrier, options_.threads);
    if (thread == 0) check();
    terrane_barrier_threads(kBarrier, options_.threads);
  }

  void step(unsigned me, terrane::base::Prng& rng, Totals& mine) {
    if (rng.below(400) == 0) {
      std::size_t first = rng.below(options_.pages);
      if (terrane_evict(table_ + first * kPage, bytes_ - first * kPage) != TERRANE_OK) die("evict");
    }
    switch (rng.below(6)) {
      case 0: {
        std::size_t c = rng.below(kCounters);
        std::uint64_t by = 1 + rng.below(9);
        counter(c).fetch_add(by);
        mine.added[c] += by;
        break;
      }
      case 1:  // the second word is never greater than the first
        first(me).store(mine.operations);
        second(me).store(mine.operations);
        break;
      case 2: {
        unsigned other = rng.below(all_);
        std::uint64_t late = second(other).load();
        std::uint64_t early = first(other).load();
        if (early < late) wrong("of two stores the later was seen alone", early, late);
        std::uint64_t again = second(other).load();
        if (again < late) wrong("a store was seen and is gone", again, late);
        break;
      }
      case 3:
        enter(me, mine);
        break;
      case 4: {
        std::size_t page = rng.below(options_.pages);
        std::uint64_t was = own(page, me).exchange(mine.operations);
        if (was != mine.latest[page]) wrong("a word of one thread", was, mine.latest[page]);
        mine.latest[page] = mine.operations;
        break;
      }
      default: {
        if (me >= options_.pages - 1) break;
        std::uint64_t value = rng.next();
        std::uint64_t back = 0;
        std::memcpy(across(me), &value, sizeof value);
        std::memcpy(&back, across(me), sizeof back);
        if (back != value) wrong("a word across two pages", back, value);
        break;
      }
    }
  }

  // Dekker's way in: a thread that has said that it wishes to, and then sees that no other has, is
  // alone.
  void enter(unsigned me, Totals& mine) {
    wish(me).store(1);
    bool alone = true;
    for (unsigned t = 0; t < all_ && alone; ++t) alone = t == me || wish(t).load() == 0;
    if (alone) {
      std::uint64_t was = *guarded();
      *guarded() = was + 1;
      ++mine.entered;
    }
    wish(me).store(0);
  }

  void check() {
    Totals sum{};
    for (unsigned t = 0; t < all_; ++t) {
      for (std::size_t c = 0; c < kCounters; ++c) sum.added[c] += totals_[t].added[c];
      sum.entered += totals_[t].entered;
      sum.operations += totals_[t].operations;
    }
    for (std::size_t c = 0; c < kCounters; ++c)
      if (counter(c).load() != sum.added[c]) wrong("a counter", counter(c).load(), sum.added[c]);
    if (*guarded() != sum.entered) wrong("what one at a time changed", *guarded(), sum.entered);
    terrane_counters mine{};
    terrane_read_counters(&mine);
    if (terrane_node() == 0)
      std::printf("%llu operations, %llu times alone; node 0 evicted %llu pages\n",
                  static_cast<unsigned long long>(sum.operations),
                  static_cast<unsigned long long>(sum.entered),
                  static_cast<unsigned long long>(mine.pages_evicted));
  }

  Options options_;
  unsigned all_;
  std::size_t bytes_;
  std::byte* table_ = nullptr;
  Totals* totals_ = nullptr;
  std::atomic<std::uint64_t> wrong_{0};
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i];
    if (name == "--seconds") options.seconds = std::atof(argv[i + 1]);
    if (name == "--threads") options.threads = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--pages") options.pages = std::strtoull(argv[i + 1], nullptr, 10);
  }
  if (terrane_init() != TERRANE_OK) die("terrane_init");
  int result = Stress(options).run();
  terrane_finalize();
  return result;
}
