// Regions of every protocol and propagation, and atomic operations on their words, from real nodes.
#include <unistd.h>

#include <string_view>
#include <thread>
#include <vector>

#include "program.h"

namespace {

using terrane::pages_test::at;
using terrane::pages_test::error_says;
using terrane::pages_test::kPage;

constexpr unsigned kThreads = 2;

int self() { return terrane_node(); }
unsigned nodes() { return static_cast<unsigned>(terrane_nodes()); }
unsigned workers() { return nodes() * kThreads; }

template <typename T>
T* allocate(const terrane_alloc_options& options, std::size_t count) {
  void* address = terrane_alloc_all(count * sizeof(T), &options);
  EXPECT(address != nullptr);
  return static_cast<T*>(address);
}

// Every kind of region that the tests go through.
std::vector<terrane_alloc_options> every_kind() {
  std::vector<terrane_alloc_options> kinds;
  for (auto protocol : {TERRANE_PROTOCOL_HLRC, TERRANE_PROTOCOL_ERC}) {
    for (auto propagation : {TERRANE_ADAPTIVE, TERRANE_INVALIDATE, TERRANE_UPDATE}) {
      for (auto homes : {TERRANE_HOMES_FIRST_TOUCH, TERRANE_HOMES_BLOCK_CYCLIC}) {
        terrane_alloc_options options{};
        options.homes = homes;
        options.protocol = protocol;
        options.propagation = propagation;
        options.block_pages = homes == TERRANE_HOMES_BLOCK_CYCLIC ? 2 : 0;
        kinds.push_back(options);
      }
    }
  }
  return kinds;
}

// work(worker) on kThreads threads of each node.
template <typename Work>
void on_all(Work work) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { work(static_cast<unsigned>(self()) * kThreads + t); });
  for (std::thread& thread : threads) thread.join();
}

void meet() { EXPECT(terrane_barrier_threads(7, kThreads) == TERRANE_OK); }

// Each worker writes a page of its own and reads everybody's; then a record goes round under a
// lock.
void share(const terrane_alloc_options& options, std::uint32_t lock) {
  constexpr unsigned kRounds = 12;
  constexpr unsigned kWords = 2 * kPage / sizeof(std::uint64_t);
  auto* table = allocate<std::uint64_t>(options, workers() * kWords);
  auto* record = allocate<std::uint64_t>(options, 4);
  on_all([&](unsigned worker) {
    for (unsigned round = 1; round <= kRounds; ++round) {
      for (unsigned i = 0; i < kWords; i += 7)
        at(table, worker * kWords + i) = round * 1000 + worker + i;
      meet();
      for (unsigned w = 0; w < workers(); ++w)
        for (unsigned i = 0; i < kWords; i += 7)
          EXPECT(at(table, w * kWords + i) == round * 1000 + w + i);
      EXPECT(terrane_lock(lock) == TERRANE_OK);
      for (unsigned i = 0; i < 4; ++i) at(record, i) = at(record, i) + i + 1;
      EXPECT(terrane_unlock(lock) == TERRANE_OK);
      meet();
    }
  });
  for (unsigned i = 0; i < 4; ++i)
    EXPECT(at(record, i) == std::uint64_t{kRounds} * workers() * (i + 1));
}

void kinds() {
  std::uint32_t lock = 1;
  for (const terrane_alloc_options& options : every_kind()) share(options, lock++);
}

// ---- atomic operations

std::uint64_t fetch(void* word, std::size_t bytes, terrane_atomic_op op, std::uint64_t operand) {
  std::uint64_t before = 0;
  EXPECT(terrane_atomic_fetch(word, bytes, op, operand, &before) == TERRANE_OK);
  return before;
}

std::uint64_t load(const void* word, std::size_t bytes) {
  std::uint64_t value = 0;
  EXPECT(terrane_atomic_load(word, bytes, &value) == TERRANE_OK);
  return value;
}

// Counters that all add to, in pages that all write otherwise, too.
void count(const terrane_alloc_options& options) {
  constexpr unsigned kAdds = 100;
  struct Words {
    std::uint64_t wide;
    std::uint32_t narrow, mask;
    std::uint64_t swapped;
    std::uint64_t own[32];
  };
  auto* words = allocate<Words>(options, 1);
  on_all([&](unsigned worker) {
    std::uint64_t last = 0;
    for (unsigned i = 0; i < kAdds; ++i) {
      at(words->own, worker) = i;
      std::uint64_t before = fetch(&words->wide, 8, TERRANE_ATOMIC_ADD, 3);
      EXPECT(before >= last && before % 3 == 0);
      last = before + 3;
      fetch(&words->narrow, 4, TERRANE_ATOMIC_ADD, 0xffffffff);
      std::uint64_t seen = load(&words->swapped, 8);
      while (terrane_atomic_compare_exchange(&words->swapped, 8, &seen, seen + 1) != TERRANE_OK) {
      }
    }
    fetch(&words->mask, 4, TERRANE_ATOMIC_OR, 1u << worker);
    fetch(&words->mask, 4, TERRANE_ATOMIC_XOR, 1u << 31);
    meet();
    EXPECT(at(&words->wide, 0) == 3ull * kAdds * workers());  // by plain loads
    EXPECT(at(&words->narrow, 0) ==
           static_cast<std::uint32_t>(-1 * static_cast<int>(kAdds * workers())));
    EXPECT(at(&words->swapped, 0) == std::uint64_t{kAdds} * workers());
    EXPECT((at(&words->mask, 0) & 0x7fffffff) == (1u << workers()) - 1);
    EXPECT(load(&words->wide, 8) == 3ull * kAdds * workers());
    for (unsigned w = 0; w < workers(); ++w) EXPECT(at(words->own, w) == kAdds - 1);
    meet();
    // A thread's plain accesses and atomic operations stay in order.
    at(words->own, worker) = 100 + worker;
    EXPECT(fetch(&words->own[worker], 8, TERRANE_ATOMIC_ADD, 5) == 100 + worker);
    EXPECT(at(words->own, worker) == 105 + worker);
    EXPECT(terrane_atomic_store(&words->own[worker], 8, 9) == TERRANE_OK);
    EXPECT(at(words->own, worker) == 9);
    EXPECT(fetch(&words->own[worker], 8, TERRANE_ATOMIC_EXCHANGE, 4) == 9);
    EXPECT(fetch(&words->own[worker], 8, TERRANE_ATOMIC_AND, 6) == 4);
    meet();
    for (unsigned w = 0; w < workers(); ++w) EXPECT(at(words->own, w) == 4);
  });
}

void atomics() {
  for (const terrane_alloc_options& options : every_kind()) count(options);
}

// ---- arrays that one node filled

terrane_counters counters() {
  terrane_counters now{};
  EXPECT(terrane_read_counters(&now) == TERRANE_OK);
  return now;
}

bool is_set(const char* variable, std::string_view value) {
  const char* set = std::getenv(variable);
  return set != nullptr && set == value;
}

// Where the processors are overloaded a home may be asked while it releases, and keeps its pages:
// then counts of pages are not met. work() makes an array, and says whether they were, at this
// node. One array of eight has to do at all nodes.
template <typename Work>
void in_most_cases(Work work) {
  std::int64_t met = 0;
  for (int times = 0; times < 8 && met == 0; ++times) {
    std::int64_t here = work();
    EXPECT(terrane_barrier_reduce(5, 1, TERRANE_MIN, TERRANE_INT64, &here, &met, 1) == TERRANE_OK);
  }
  EXPECT(met != 0);
}

// Node 0 fills an array, node 1 writes it over from the first page to the last, node 0 reads it
// from the last to the first: the homes come to their writer, and the reader misses runs.
bool in_order(const terrane_alloc_options& options) {
  constexpr unsigned kPages = 256;
  constexpr unsigned kWords = kPage / sizeof(std::uint64_t);
  auto* array = allocate<std::uint64_t>(options, kPages * kWords);
  auto write = [&](std::uint64_t value) {
    for (unsigned i = 0; i < kPages * kWords; ++i) at(array, i) = value + i;
  };
  if (self() == 0) write(1);
  EXPECT(terrane_barrier() == TERRANE_OK);
  terrane_counters before = counters();
  if (self() == 1) write(2);
  EXPECT(terrane_barrier() == TERRANE_OK);
  bool met = counters().pages_flushed - before.pages_flushed < kPages / 2;
  before = counters();
  if (self() == 0) {
    for (unsigned i = kPages * kWords; i-- > 0;) EXPECT(at(array, i) == 2 + i);
    bool one_by_one = is_set("TERRANE_FAULT_SOURCE", "uffd-late");
    met = met && (one_by_one || counters().read_faults - before.read_faults < kPages / 2);
  }
  EXPECT(terrane_barrier() == TERRANE_OK);
  return met;
}

// Node 0 fills an array. Node 1 reads it in order, and then overwrites it: most homes have moved to
// node 1 because it read in order, so little is flushed. By messages, later misses prefetch 64
// pages each.
bool read_in_order(const terrane_alloc_options& options) {
  constexpr unsigned kPages = 512;
  constexpr unsigned kWords = kPages * kPage / sizeof(std::uint64_t);
  auto* array = allocate<std::uint64_t>(options, kWords);
  for (unsigned i = 0; i < kWords && self() == 0; ++i) at(array, i) = 1 + i;
  EXPECT(terrane_barrier() == TERRANE_OK);
  terrane_counters before = counters();
  for (unsigned i = 0; i < kWords && self() == 1; ++i) EXPECT(at(array, i) == 1 + i);
  bool ahead = is_set("TERRANE_ONE_SIDED", "0") && !is_set("TERRANE_FAULT_SOURCE", "uffd-late");
  bool met = !ahead || counters().read_faults - before.read_faults < kPages / 20;
  EXPECT(terrane_barrier() == TERRANE_OK);
  before = counters();
  for (unsigned i = 0; i < kWords && self() == 1; ++i) at(array, i) = 2 + i;
  EXPECT(terrane_barrier() == TERRANE_OK);
  met = met && counters().pages_flushed - before.pages_flushed < kPages / 2;
  for (unsigned i = 0; i < kWords; ++i) EXPECT(at(array, i) == 2 + i);
  EXPECT(terrane_barrier() == TERRANE_OK);
  return met;
}

// Node 0 fills an array, node 1 reads two pages in the middle of it: little else is prefetched.
bool read_a_row(const terrane_alloc_options& options) {
  constexpr unsigned kPages = 64;
  auto* array = allocate<std::uint8_t>(options, kPages * kPage);
  for (unsigned p = 0; p < kPages && self() == 0; ++p) at(array, p * kPage) = p;
  EXPECT(terrane_barrier() == TERRANE_OK);
  terrane_counters before = counters();
  for (unsigned p = 10; p < 12 && self() == 1; ++p) EXPECT(at(array, p * kPage) == p);
  bool met = counters().pages_fetched - before.pages_fetched <= 3;
  EXPECT(terrane_barrier() == TERRANE_OK);
  return met;
}

// Node 1 has filled the pages that node 0 writes in each round, and node 1 reads them. The homes
// move to their writer, though node 1 reads between the barrier with the writer's notice and the
// next write.
bool consume(const terrane_alloc_options& options) {
  constexpr unsigned kPages = 16;
  constexpr unsigned kWords = kPages * kPage / sizeof(std::uint64_t);
  auto* array = allocate<std::uint64_t>(options, kWords);
  for (unsigned i = 0; i < kWords && self() == 1; ++i) at(array, i) = 1;
  EXPECT(terrane_barrier() == TERRANE_OK);
  terrane_counters before{};
  for (unsigned round = 2; round < 40; ++round) {
    if (round == 32) before = counters();
    if (self() == 0) usleep(500);  // node 1 goes through the barrier meanwhile
    for (unsigned i = 0; i < kWords && self() == 0; ++i) at(array, i) = round + i;
    EXPECT(terrane_barrier() == TERRANE_OK);
    for (unsigned i = 0; i < kWords && self() == 1; ++i) EXPECT(at(array, i) == round + i);
    EXPECT(terrane_barrier() == TERRANE_OK);
  }
  return counters().pages_flushed == before.pages_flushed;
}

void order() {
  for (auto protocol : {TERRANE_PROTOCOL_HLRC, TERRANE_PROTOCOL_ERC}) {
    terrane_alloc_options options{};
    options.protocol = protocol;
    in_most_cases([&] { return in_order(options); });
    in_most_cases([&] { return read_in_order(options); });
    in_most_cases([&] { return read_a_row(options); });
    in_most_cases([&] { return consume(options); });
  }
}

void misuse() {
  auto* words = static_cast<std::uint64_t*>(terrane_alloc_all(kPage, nullptr));
  EXPECT(words != nullptr);
  auto* bytes = reinterpret_cast<char*>(words);
  std::uint64_t value = 0;
  EXPECT(terrane_atomic_load(bytes + 4, 8, &value) == TERRANE_EINVAL && error_says("aligned"));
  EXPECT(terrane_atomic_load(bytes, 2, &value) == TERRANE_EINVAL && error_says("4 or 8"));
  EXPECT(terrane_atomic_load(words, 8, nullptr) == TERRANE_EINVAL && error_says("value is NULL"));
  EXPECT(terrane_atomic_compare_exchange(words, 8, nullptr, 1) == TERRANE_EINVAL &&
         error_says("expected is NULL"));
  EXPECT(terrane_atomic_load(&value, 8, &value) == TERRANE_EADDR && error_says("not in shared"));
  EXPECT(terrane_atomic_store(bytes + (1 << 30), 8, 1) == TERRANE_EADDR &&
         error_says("no allocation"));
  EXPECT(terrane_atomic_fetch(words, 8, static_cast<terrane_atomic_op>(9), 1, nullptr) ==
             TERRANE_EINVAL &&
         error_says("no operation"));
  terrane_alloc_options options{};
  options.protocol = static_cast<terrane_protocol>(8);
  EXPECT(terrane_alloc(8, &options) == nullptr && error_says("protocol 8"));
  options = {};
  options.propagation = static_cast<terrane_propagation>(8);
  EXPECT(terrane_alloc(8, &options) == nullptr && error_says("propagation 8"));
  options = {};
  options.homes = TERRANE_HOMES_BLOCK_CYCLIC;
  EXPECT(terrane_alloc(8, &options) == nullptr && error_says("block_pages"));
  options = {};
  options.propagation = self() == 0 ? TERRANE_UPDATE : TERRANE_INVALIDATE;
  // The node that comes first is right, and the others get the error.
  bool refused = terrane_alloc_all(8, &options) == nullptr && error_says("other options");
  EXPECT(terrane_barrier() == TERRANE_OK);
  words[self()] = refused ? 1 : 0;
  EXPECT(terrane_barrier() == TERRANE_OK);
  unsigned told = 0;
  for (unsigned n = 0; n < nodes(); ++n) told += words[n] != 0;
  EXPECT(told == nodes() - 1);
}

// A stream of node 1 asks for homes of pages that node 2 works on, and node 1 never comes for them.
// Node 2 gets them all the same, though it writes what was there: no page is fetched for ever.
void beyond() {
  constexpr std::size_t kFirst = 160, kPages = 320, kRounds = 80;
  auto* words = allocate<std::uint64_t>({}, kPages * kPage / 8);
  auto each = [&](std::size_t from, std::size_t to, auto work) {
    for (std::size_t page = from; page < to; ++page) work(at(words, page * kPage / 8), page);
  };
  using Word = volatile std::uint64_t;
  if (self() == 0) each(0, kPages, [](Word& word, std::size_t page) { word = page + 1; });
  EXPECT(terrane_barrier() == TERRANE_OK);
  if (self() == 1) each(0, kFirst, [](Word& word, std::size_t page) { EXPECT(word == page + 1); });
  EXPECT(terrane_barrier() == TERRANE_OK);
  terrane_counters before{};
  for (std::size_t round = 0; round < kRounds; ++round) {
    if (round == kRounds / 2) EXPECT(terrane_read_counters(&before) == TERRANE_OK);
    if (self() == 2) each(kFirst, kPages, [](Word& word, std::size_t) { word = Word{word}; });
    EXPECT(terrane_barrier() == TERRANE_OK);
  }
  terrane_counters after{};
  EXPECT(terrane_read_counters(&after) == TERRANE_OK);
  EXPECT(after.pages_fetched - before.pages_fetched <= kPages);
}

// One node after the other allocates, finds zeros, writes, and frees what it has not released yet.
void fresh_of(const terrane_alloc_options& options, std::uint32_t rounds) {
  constexpr std::size_t kPages = 5, kStep = 512;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    auto* bytes = static_cast<unsigned char*>(terrane_alloc(kPages * kPage, &options));
    EXPECT(bytes != nullptr);
    for (std::size_t i = 0; i < kPages * kPage; i += kStep) EXPECT(at(bytes, i) == 0);
    EXPECT(terrane_lock(1) == TERRANE_OK);
    for (std::size_t i = 0; i < kPages * kPage; i += kStep)
      at(bytes, i) = static_cast<unsigned char>(1 + round % 250);
    EXPECT(terrane_free(bytes) == TERRANE_OK);
    EXPECT(terrane_unlock(1) == TERRANE_OK);
  }
}

void fresh() {
  for (auto protocol : {TERRANE_PROTOCOL_HLRC, TERRANE_PROTOCOL_ERC, TERRANE_PROTOCOL_SC}) {
    for (auto homes : {TERRANE_HOMES_FIRST_TOUCH, TERRANE_HOMES_BLOCK, TERRANE_HOMES_CYCLIC,
                       TERRANE_HOMES_EXPLICIT}) {
      for (unsigned home = 0; home < (homes == TERRANE_HOMES_EXPLICIT ? nodes() : 1); ++home) {
        terrane_alloc_options options{};
        options.homes = homes;
        options.home = home;
        options.protocol = protocol;
        if (self() == static_cast<int>(nodes()) - 1) fresh_of(options, 60);
        EXPECT(terrane_barrier() == TERRANE_OK);
        if (self() == 0) fresh_of(options, 60);
        EXPECT(terrane_barrier() == TERRANE_OK);
      }
    }
  }
}

// A page whose home's node ended each offer of it, then one at the same address that another node
// alone writes: its home must follow it at once.
void history() {
  constexpr int kWarm = 200, kRounds = 300;
  auto* old = allocate<unsigned char>({}, kPage);
  if (self() == 0) at(old, 0) = 1;
  EXPECT(terrane_barrier() == TERRANE_OK);
  // Node 0 reads before node 1 writes, in each round: each time it ends the offer of its home.
  for (int round = 1; round <= kWarm; ++round) {
    if (self() == 0) {
      EXPECT(at(old, 0) != 0);
      EXPECT(terrane_counter_fetch(1, TERRANE_COUNTER_ADD, 1, nullptr) == TERRANE_OK);
    } else {
      EXPECT(terrane_counter_wait(1, round) == TERRANE_OK);
      at(old, 0) = static_cast<unsigned char>(1 + round % 250);
    }
    EXPECT(terrane_barrier() == TERRANE_OK);
  }
  if (self() == 0) EXPECT(terrane_free(old) == TERRANE_OK);
  EXPECT(terrane_barrier() == TERRANE_OK);
  auto* next = allocate<unsigned char>({}, kPage);
  if (self() == 0) at(next, 0) = 1;
  EXPECT(terrane_barrier() == TERRANE_OK);
  std::uint64_t before = counters().pages_flushed;
  for (int round = 0; round < kRounds; ++round) {
    if (self() == 1) at(next, 0) = static_cast<unsigned char>(1 + round % 250);
    EXPECT(terrane_barrier() == TERRANE_OK);
  }
  if (self() == 1) EXPECT(counters().pages_flushed - before <= 2);
  EXPECT(terrane_barrier() == TERRANE_OK);
}

// Node 1 writes pages whose home is node 0, which reads none of them.
void count_all() {
  constexpr std::size_t kPages = 10;
  terrane_alloc_options options{};
  options.homes = TERRANE_HOMES_EXPLICIT;
  options.propagation = TERRANE_INVALIDATE;
  auto* bytes = allocate<unsigned char>(options, kPages * kPage);
  EXPECT(terrane_barrier() == TERRANE_OK);
  terrane_counters before = counters();
  if (self() == 1) {
    for (std::size_t page = 0; page < kPages; ++page)
      for (std::size_t i = 0; i < 3; ++i) at(bytes, page * kPage + 8 * i) = 7;
    terrane_counters wrote = counters();
    EXPECT(wrote.pages_fetched - before.pages_fetched == kPages);
    EXPECT(wrote.fetch_ns > before.fetch_ns);
    EXPECT(terrane_lock(2) == TERRANE_OK && terrane_unlock(2) == TERRANE_OK);
    // No node asks for the lock: its token stays here, and nothing is released.
    EXPECT(counters().notices == before.notices);
    EXPECT(terrane_flag_set(2) == TERRANE_OK);
    terrane_counters released = counters();
    EXPECT(released.notices - before.notices == kPages);
    EXPECT(released.pages_flushed - before.pages_flushed == kPages);
    std::uint64_t flushed = released.bytes_flushed - before.bytes_flushed;
    EXPECT(flushed >= 3 * kPages && flushed < kPages * kPage / 8);
    EXPECT(released.lock_acquires - before.lock_acquires == 1);
    EXPECT(released.lock_ns >= before.lock_ns && released.overhead_ns > before.overhead_ns);
  }
  EXPECT(terrane_barrier() == TERRANE_OK);
  if (self() == 0) at(bytes, 1) = 1;  // its own page: a notice for the copy
  EXPECT(terrane_barrier() == TERRANE_OK);
  terrane_counters last = counters();
  EXPECT(last.barriers - before.barriers == 2);
  EXPECT(last.barrier_ns >= before.barrier_ns);  // the last node to come waits for nobody
  EXPECT(last.messages_sent > before.messages_sent);
  EXPECT(last.message_bytes_sent > before.message_bytes_sent);
  EXPECT(last.elapsed_ns > before.elapsed_ns);
  if (self() == 1) EXPECT(last.pages_invalidated > before.pages_invalidated);
  // Zeros of this node's own are no page that came from elsewhere.
  before = counters();
  auto* fresh = static_cast<unsigned char*>(terrane_alloc(kPages * kPage, nullptr));
  EXPECT(fresh != nullptr);
  for (std::size_t page = 0; page < kPages; ++page) at(fresh, page * kPage) = 1;
  last = counters();
  EXPECT(last.read_faults + last.write_faults > before.read_faults + before.write_faults);
  EXPECT(last.pages_fetched == before.pages_fetched && last.fetch_ns == before.fetch_ns);
  if (self() == 1) {
    std::uint64_t evicted = counters().pages_evicted;
    unsigned char seen = at(bytes, 0);
    EXPECT(seen == 7 && terrane_evict(bytes, kPages * kPage) == TERRANE_OK);
    EXPECT(counters().pages_evicted > evicted);
  }
  EXPECT(terrane_barrier() == TERRANE_OK);
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view mode = argc > 1 ? argv[1] : "";
  EXPECT(terrane_init() == TERRANE_OK);
  if (mode == "kinds") {
    kinds();
  } else if (mode == "atomics") {
    atomics();
  } else if (mode == "order") {
    order();
  } else if (mode == "beyond") {
    beyond();
  } else if (mode == "fresh") {
    fresh();
  } else if (mode == "history") {
    history();
  } else if (mode == "counters") {
    count_all();
  } else if (mode == "misuse") {
    misuse();
  } else {
    return 2;
  }
  EXPECT(terrane_finalize() == TERRANE_OK);
  std::puts("good");
  return 0;
}
