// The programs of pages_test.cpp, one a mode: each says "good" on every node, or what went wrong.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <terrane/pages.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void bad(const char* what, int line) {
  std::fprintf(stderr, "node %d line %d: %s; last error: %s\n", terrane_node(), line, what,
               terrane_error());
  std::exit(9);
}
#define EXPECT(condition) \
  if (!(condition)) bad(#condition, __LINE__)

bool error_says(const char* part) { return std::strstr(terrane_error(), part) != nullptr; }

terrane_counters counters() {
  terrane_counters now{};
  EXPECT(terrane_read_counters(&now) == TERRANE_OK);
  return now;
}

template <typename T>
T* allocate_all(std::size_t count, terrane_homes homes = TERRANE_HOMES_FIRST_TOUCH,
                std::uint32_t home = 0, terrane_protocol protocol = TERRANE_PROTOCOL_HLRC) {
  terrane_alloc_options options{.homes = homes, .home = home, .name = "test", .protocol = protocol};
  void* address = terrane_alloc_all(count * sizeof(T), &options);
  EXPECT(address != nullptr);
  return static_cast<T*>(address);
}

template <typename T>
volatile T& at(T* base, std::size_t index) {
  return *static_cast<volatile T*>(base + index);
}

// ---- what works
// -----------------------------------------------------------------------------------------------------

void basics() {
  int node = terrane_node();
  int nodes = terrane_nodes();
  EXPECT(node >= 0 && node < nodes);
  auto* all = allocate_all<std::uint64_t>(4096);
  at(all, static_cast<std::size_t>(node)) = 100 + static_cast<std::uint64_t>(node);
  terrane_barrier();
  for (int n = 0; n < nodes; ++n) EXPECT(at(all, n) == 100u + static_cast<std::uint64_t>(n));
  terrane_barrier();
  // One node allocates, another writes, a third frees; the pointer travels in shared memory.
  if (node == nodes - 1) {
    auto address = reinterpret_cast<std::uint64_t>(terrane_alloc(3 * kPage, nullptr));
    EXPECT(address != 0);
    at(all, 64) = address;
  }
  terrane_barrier();
  auto* one = reinterpret_cast<std::uint8_t*>(at(all, 64));
  EXPECT(at(one, kPage) == 0);
  terrane_barrier();
  if (node == 0) std::memset(one, 7, 3 * kPage);
  terrane_barrier();
  EXPECT(at(one, 2 * kPage) == 7);
  terrane_barrier();
  if (node == nodes / 2) EXPECT(terrane_free(one) == TERRANE_OK);
  terrane_barrier();
}

void homes() {
  int node = terrane_node();
  auto nodes = static_cast<std::size_t>(terrane_nodes());
  struct Case {
    terrane_homes homes;
    std::size_t (*home)(std::size_t page, std::size_t pages, std::size_t nodes);
  };
  const Case cases[] = {
      {TERRANE_HOMES_BLOCK,
       [](std::size_t p, std::size_t n, std::size_t k) { return p / ((n + k - 1) / k); }},
      {TERRANE_HOMES_CYCLIC, [](std::size_t p, std::size_t, std::size_t k) { return p % k; }},
      {TERRANE_HOMES_EXPLICIT,
       [](std::size_t, std::size_t, std::size_t) { return std::size_t{1}; }},
      // A node that writes pages in order would claim the next ones, too: another node's, perhaps.
      {TERRANE_HOMES_FIRST_TOUCH,
       [](std::size_t p, std::size_t, std::size_t k) { return (p + 1) % k; }}};
  constexpr std::size_t kPages = 24;
  for (const Case& c : cases) {
    auto* bytes = allocate_all<std::uint8_t>(kPages * kPage, c.homes, 1);
    auto before = counters();
    for (std::size_t p = 0; p < kPages; ++p)
      if (c.home(p, kPages, nodes) == static_cast<std::size_t>(node)) at(bytes, p * kPage) = 1;
    EXPECT(counters().pages_fetched == before.pages_fetched);  // a home fetches nothing
    terrane_barrier();
    before = counters();  // the barrier may have refreshed copies of what was freed last
    for (std::size_t p = 0; p < kPages; ++p) EXPECT(at(bytes, p * kPage) == 1);
    std::size_t own = 0;
    for (std::size_t p = 0; p < kPages; ++p)
      own += c.home(p, kPages, nodes) == static_cast<std::size_t>(node);
    EXPECT(counters().pages_fetched == before.pages_fetched + kPages - own);
    terrane_barrier();
    if (node == 0) EXPECT(terrane_free(bytes) == TERRANE_OK);  // else copies of it may be refreshed
    terrane_barrier();
  }
}

// Node 0 initialises everything, then each node writes its own part round after round: its pages
// come to it, so that little is flushed; or, where homes stay, all of it every round. Mostly they
// come in the first rounds; beside other work it has taken up to a quarter of them.
void writers_of(terrane_protocol protocol) {
  constexpr std::size_t kPages = 40;
  constexpr std::uint8_t kRounds = 60;
  auto node = static_cast<std::size_t>(terrane_node());
  auto nodes = static_cast<std::size_t>(terrane_nodes());
  auto* bytes =
      allocate_all<std::uint8_t>(nodes * kPages * kPage, TERRANE_HOMES_FIRST_TOUCH, 0, protocol);
  for (std::size_t p = 0; node == 0 && p < nodes * kPages; ++p) at(bytes, p * kPage) = 0xff;
  terrane_barrier();
  auto before = counters();
  for (std::uint8_t round = 1; round <= kRounds; ++round) {
    for (std::size_t p = node * kPages; p < (node + 1) * kPages; ++p) at(bytes, p * kPage) = round;
    terrane_barrier();
    std::size_t neighbour = (node + 1) % nodes;
    EXPECT(at(bytes, (neighbour * kPages + round % kPages) * kPage) == round);
    terrane_barrier();
  }
  std::uint64_t flushed = counters().pages_flushed - before.pages_flushed;
  const char* migrate = std::getenv("TERRANE_MIGRATE");
  if (migrate != nullptr && *migrate == '0') {
    EXPECT(flushed == (node == 0 ? 0 : kPages * kRounds));
  } else {
    EXPECT(flushed <= kPages * kRounds / 2);
  }
  for (std::size_t p = 0; p < nodes * kPages; ++p) EXPECT(at(bytes, p * kPage) == kRounds);
}

void writers() {
  writers_of(TERRANE_PROTOCOL_HLRC);
  writers_of(TERRANE_PROTOCOL_ERC);
}

// A copy that no node writes is fetched twice: as a lease, then to be kept. If its home has begun a
// subscription meanwhile, it is fetched once more. If the two nodes are not in step, it is fetched
// some times more, but not in each of the 20 rounds.
void tracking() {
  auto* bytes = allocate_all<std::uint8_t>(16 * kPage, TERRANE_HOMES_EXPLICIT, 0);
  if (terrane_node() == 0)
    for (int p = 0; p < 16; ++p) at(bytes, p * kPage) = 1;
  terrane_barrier();
  auto before = counters();
  for (int round = 0; round < 20; ++round) {
    if (terrane_node() == 1)
      for (int p = 0; p < 16; ++p) EXPECT(at(bytes, p * kPage) == 1);
    terrane_barrier();  // the home's next release comes after these reads
    terrane_barrier();
  }
  if (terrane_node() == 1) EXPECT(counters().pages_fetched - before.pages_fetched <= 6 * 16);
  // Written in each round: soon neither protected nor noticed, but refreshed at both of its
  // barriers.
  auto written = counters();
  for (int round = 0; round < 60; ++round) {
    if (terrane_node() == 0) at(bytes, 0) = static_cast<std::uint8_t>(round);
    terrane_barrier();
    if (terrane_node() == 1) EXPECT(at(bytes, 0) == static_cast<std::uint8_t>(round));
    terrane_barrier();
  }
  if (terrane_node() == 1) EXPECT(counters().pages_fetched - written.pages_fetched <= 121);
}

void threads() {
  constexpr int kThreads = 3;
  constexpr int kTimes = 300;
  auto* sums = allocate_all<std::uint64_t>(512);
  std::vector<std::thread> team;
  for (int t = 0; t < kThreads; ++t) {
    team.emplace_back([=] {
      for (int i = 0; i < kTimes; ++i) {
        EXPECT(terrane_lock(3) == TERRANE_OK);
        at(sums, 0) = at(sums, 0) + 1;
        EXPECT(terrane_unlock(3) == TERRANE_OK);
      }
      EXPECT(terrane_barrier_threads(9, kThreads) == TERRANE_OK);
      EXPECT(at(sums, 0) == static_cast<std::uint64_t>(kThreads * kTimes * terrane_nodes()));
    });
  }
  for (std::thread& thread : team) thread.join();
}

// One thread of each node fills a ring of slots, the others empty it.
void semaphores() {
  constexpr std::uint32_t kRing = 8, kItems = 200, kFree = 1, kFull = 2;
  auto* ring = allocate_all<std::uint64_t>(kRing + 3);
  volatile std::uint64_t &put = at(ring, kRing), &got = at(ring, kRing + 1),
                         &sum = at(ring, kRing + 2);
  if (terrane_node() == 0) EXPECT(terrane_semaphore_post(kFree, kRing) == TERRANE_OK);
  std::thread consumer([&] {
    for (std::uint32_t i = 0; i < kItems; ++i) {
      EXPECT(terrane_semaphore_wait(kFull) == TERRANE_OK);
      EXPECT(terrane_lock(1) == TERRANE_OK);
      sum = sum + at(ring, got % kRing);
      got = got + 1;
      EXPECT(terrane_unlock(1) == TERRANE_OK);
      EXPECT(terrane_semaphore_post(kFree, 1) == TERRANE_OK);
    }
  });
  for (std::uint64_t i = 1; i <= kItems; ++i) {
    EXPECT(terrane_semaphore_wait(kFree) == TERRANE_OK);
    EXPECT(terrane_lock(2) == TERRANE_OK);
    at(ring, put % kRing) = i;
    put = put + 1;
    EXPECT(terrane_unlock(2) == TERRANE_OK);
    EXPECT(terrane_semaphore_post(kFull, 1) == TERRANE_OK);
  }
  consumer.join();
  terrane_barrier();
  EXPECT(sum == kItems * (kItems + 1) / 2 * static_cast<std::uint64_t>(terrane_nodes()));
  EXPECT(terrane_semaphore_try(kFull) == TERRANE_EBUSY && error_says("no unit"));
  terrane_barrier();
  if (terrane_node() == 0)
    for (std::uint32_t i = 0; i < kRing; ++i) EXPECT(terrane_semaphore_try(kFree) == TERRANE_OK);
  terrane_barrier();
  EXPECT(terrane_semaphore_try(kFree) == TERRANE_EBUSY);
}

// The nodes take turns, and know by a condition whose it is.
void conditions() {
  constexpr std::uint64_t kRounds = 60;
  auto nodes = static_cast<std::uint64_t>(terrane_nodes());
  auto self = static_cast<std::uint64_t>(terrane_node());
  auto* turn = allocate_all<std::uint64_t>(1);
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    EXPECT(terrane_lock(5) == TERRANE_OK);
    while (at(turn, 0) % nodes != self) EXPECT(terrane_condition_wait(3, 5) == TERRANE_OK);
    EXPECT(at(turn, 0) == round * nodes + self);
    at(turn, 0) = at(turn, 0) + 1;
    EXPECT(terrane_condition_broadcast(3) == TERRANE_OK);
    EXPECT(terrane_unlock(5) == TERRANE_OK);
  }
  terrane_barrier();
  // Each signal lets one thread go on, wherever it is.
  constexpr int kThreads = 3;
  std::vector<std::thread> team;
  auto* state = allocate_all<std::uint64_t>(2);  // how many wait, how many may go
  for (int t = 0; t < kThreads; ++t)
    team.emplace_back([=] {
      EXPECT(terrane_lock(6) == TERRANE_OK);
      at(state, 0) = at(state, 0) + 1;
      EXPECT(terrane_condition_wait(4, 6) == TERRANE_OK);
      EXPECT(at(state, 1) > 0);
      at(state, 1) = at(state, 1) - 1;
      EXPECT(terrane_unlock(6) == TERRANE_OK);
    });
  for (bool done = self != 0; !done;) {
    EXPECT(terrane_lock(6) == TERRANE_OK);
    done = at(state, 0) == kThreads * nodes;
    for (std::uint64_t i = 0; done && i < kThreads * nodes; ++i) {
      at(state, 1) = at(state, 1) + 1;
      EXPECT(terrane_condition_signal(4) == TERRANE_OK);
    }
    EXPECT(terrane_unlock(6) == TERRANE_OK);
  }
  for (std::thread& thread : team) thread.join();
  EXPECT(terrane_condition_wait(4, 6) == TERRANE_ENOTHELD && error_says("lock 6"));
}

// What was written before a flag was set, or a counter raised, is seen by a thread that waited for
// it.
void flags() {
  constexpr std::uint32_t kRounds = 40, kDone = 7;
  int nodes = terrane_nodes(), self = terrane_node();
  auto* data = allocate_all<std::uint64_t>(1024);
  int64_t before = 0;
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    if (self == 0) {
      at(data, 600) = round;
      EXPECT(terrane_flag_set(round) == TERRANE_OK);
      EXPECT(terrane_counter_wait(kDone, (nodes - 1) * round) == TERRANE_OK);
      for (int n = 1; n < nodes; ++n) EXPECT(at(data, n) == round);
      EXPECT(terrane_flag_clear(round) == TERRANE_OK);
    } else {
      EXPECT(terrane_flag_wait(round) == TERRANE_OK);
      EXPECT(at(data, 600) == round);
      at(data, self) = round;
      EXPECT(terrane_counter_fetch(kDone, TERRANE_COUNTER_ADD, 1, &before) == TERRANE_OK);
      EXPECT(before >= (nodes - 1) * (round - 1) && before < (nodes - 1) * round);
    }
  }
  terrane_barrier();
  if (self == nodes - 1) {
    const struct {
      terrane_counter_op op;
      int64_t operand, after;
    } cases[] = {{TERRANE_COUNTER_SET, 12, 12}, {TERRANE_COUNTER_AND, 10, 8},
                 {TERRANE_COUNTER_OR, 3, 11},   {TERRANE_COUNTER_XOR, 1, 10},
                 {TERRANE_COUNTER_MIN, -4, -4}, {TERRANE_COUNTER_MAX, 5, 5},
                 {TERRANE_COUNTER_ADD, -6, -1}};
    int64_t value = 0;
    for (const auto& c : cases) {
      EXPECT(terrane_counter_fetch(8, c.op, c.operand, &before) == TERRANE_OK && before == value);
      value = c.after;
    }
  }
  terrane_barrier();
  EXPECT(terrane_counter_fetch(8, TERRANE_COUNTER_ADD, 0, &before) == TERRANE_OK && before == -1);
  EXPECT(terrane_counter_fetch(8, static_cast<terrane_counter_op>(9), 0, nullptr) ==
             TERRANE_EINVAL &&
         error_says("9 is no operation"));
  EXPECT(terrane_semaphore_post(9, 0) == TERRANE_EINVAL && error_says("0 units"));
}

// Each thread of each node contributes values to a barrier, and gets those of all.
void reductions() {
  constexpr std::uint32_t kThreads = 2;
  constexpr std::size_t kCount = 100;
  auto nodes = static_cast<std::int64_t>(terrane_nodes());
  std::int64_t all = nodes * kThreads;
  auto* shared = allocate_all<std::int64_t>(kCount * 64 * 2);
  std::vector<std::thread> team;
  for (std::uint32_t t = 0; t < kThreads; ++t)
    team.emplace_back([=] {
      std::int64_t me = terrane_node() * std::int64_t{kThreads} + t;
      std::int64_t* values = shared + me * static_cast<std::int64_t>(kCount);  // shared memory, too
      double halves[3];
      std::uint64_t bits = 1ull << me, any = 0;
      for (std::int64_t round = 0; round < 50; ++round) {
        for (std::size_t i = 0; i < kCount; ++i)
          values[i] = me * round + static_cast<std::int64_t>(i);
        EXPECT(terrane_barrier_reduce(11, kThreads, TERRANE_SUM, TERRANE_INT64, values, values,
                                      kCount) == TERRANE_OK);
        for (std::size_t i = 0; i < kCount; ++i)
          EXPECT(values[i] == all * (all - 1) / 2 * round + all * static_cast<std::int64_t>(i));
        for (double& half : halves) half = static_cast<double>(me - round) / 2;
        EXPECT(terrane_barrier_reduce(12, kThreads, round % 2 ? TERRANE_MIN : TERRANE_MAX,
                                      TERRANE_DOUBLE, halves, halves, 3) == TERRANE_OK);
        EXPECT(halves[2] == static_cast<double>((round % 2 ? 0 : all - 1) - round) / 2);
        EXPECT(terrane_barrier_reduce(11, kThreads, TERRANE_OR, TERRANE_UINT64, &bits, &any, 1) ==
               TERRANE_OK);
        EXPECT(any == (1ull << all) - 1);
      }
      // Bits of doubles are none, and neither are counts out of range; nobody waits then.
      EXPECT(terrane_barrier_reduce(11, kThreads, TERRANE_AND, TERRANE_DOUBLE, halves, halves, 1) ==
                 TERRANE_EINVAL &&
             error_says("operation 4 of type 2"));
      EXPECT(terrane_barrier_reduce(11, kThreads, TERRANE_SUM, TERRANE_DOUBLE, halves, halves,
                                    5000) == TERRANE_EINVAL &&
             error_says("1 to 1024"));
      EXPECT(terrane_barrier_reduce(11, kThreads, TERRANE_SUM, TERRANE_DOUBLE, nullptr, halves,
                                    1) == TERRANE_EINVAL);
      // All threads get the error if one contributes something else.
      terrane_reduce_op op = me == 0 ? TERRANE_MIN : TERRANE_SUM;
      EXPECT(terrane_barrier_reduce(13, kThreads, op, TERRANE_DOUBLE, halves, halves, 1) ==
                 (all > 1 ? TERRANE_EMISMATCH : TERRANE_OK) &&
             error_says("the same operation"));
      EXPECT(terrane_barrier_threads(13, kThreads) == TERRANE_OK);
    });
  for (std::thread& thread : team) thread.join();
}

// Until the test has read what the others say of their wait.
void stay_away() {
  const char* heard = std::getenv("HEARD");
  for (int tries = 0; tries < 60'000 && heard && access(heard, F_OK) != 0; ++tries) usleep(1000);
}

// Node 1 stays away from what the others wait for.
void absent() {
  if (terrane_node() == 1) stay_away();
  terrane_barrier_threads(3, 1);
}
void alone() {  // one thread of node 1 is missing
  std::thread other([] {
    if (terrane_node() == 1) stay_away();
    terrane_barrier_threads(4, 2);
  });
  terrane_barrier_threads(4, 2);
  other.join();
}
void holder() {
  if (terrane_node() == 1) terrane_lock(12);
  terrane_barrier();
  if (terrane_node() == 1) stay_away();
  if (terrane_node() != 1) terrane_lock(12);
  terrane_unlock(12);
}
void unsignalled() {
  if (terrane_node() == 0) EXPECT(terrane_counter_wait(5, 7) == TERRANE_OK);
  if (terrane_node() == 2) EXPECT(terrane_semaphore_wait(6) == TERRANE_OK);
  if (terrane_node() == 1) {
    std::thread waits([] { EXPECT(terrane_flag_wait(7) == TERRANE_OK); });
    std::thread asks([] {
      EXPECT(terrane_lock(8) == TERRANE_OK);
      EXPECT(terrane_condition_wait(9, 8) == TERRANE_OK);
      EXPECT(terrane_unlock(8) == TERRANE_OK);
    });
    stay_away();
    EXPECT(terrane_counter_fetch(5, TERRANE_COUNTER_ADD, 7, nullptr) == TERRANE_OK);
    EXPECT(terrane_semaphore_post(6, 1) == TERRANE_OK);
    EXPECT(terrane_flag_set(7) == TERRANE_OK);
    EXPECT(terrane_condition_signal(9) == TERRANE_OK);
    waits.join();
    asks.join();
  }
}
void stop(pid_t process) {
  EXPECT(kill(process, SIGSTOP) == 0);
  char state = 0;
  for (int tries = 0; tries < 10'000 && state != 'T'; ++tries) {
    usleep(1000);
    FILE* stat = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "r");
    if (stat == nullptr) break;
    EXPECT(std::fscanf(stat, "%*d %*s %c", &state) == 1);
    std::fclose(stat);
  }
  EXPECT(state == 'T');
}
// Node 1, which has the pages that node 2 asks for, is stopped. Node 2 lets it go on: node 0 may
// still be in the barrier, which it leaves by a word of node 1.
void stopped() {
  auto* shared = allocate_all<int>(2 * kPage, TERRANE_HOMES_EXPLICIT, 1);
  int me = terrane_node();
  if (me == 1) shared[0] = getpid();
  terrane_barrier();
  pid_t home = shared[0];
  terrane_barrier();
  if (me == 2) {
    stop(home);
    std::thread lets_go_on([home] {
      stay_away();
      EXPECT(kill(home, SIGCONT) == 0);
    });
    EXPECT(shared[kPage / sizeof(int)] == 0);
    lets_go_on.join();
  }
  terrane_barrier();
}
void forgetful() {
  if (terrane_node() == 1) std::thread([] { terrane_lock(77); }).join();
  terrane_barrier();
  terrane_lock(77);
}

void touch() {
  int node = terrane_node();
  auto* bytes = allocate_all<char>(8 * kPage, TERRANE_HOMES_EXPLICIT, 0);
  if (node == 0) std::strcpy(bytes + 5 * kPage - 3, "over a boundary");
  terrane_barrier();
  if (node == 1) {
    int pipe_ends[2];
    EXPECT(pipe(pipe_ends) == 0);
    // Past the C library, which would help: the kernel fails on pages that are not present.
    EXPECT(syscall(SYS_write, pipe_ends[1], bytes + 5 * kPage - 3, 15) == -1 && errno == EFAULT);
    EXPECT(terrane_touch(bytes + 5 * kPage - 3, 15, TERRANE_READ) == TERRANE_OK);
    EXPECT(syscall(SYS_write, pipe_ends[1], bytes + 5 * kPage - 3, 15) == 15);
    EXPECT(terrane_touch(bytes, 15, TERRANE_READ | TERRANE_WRITE) == TERRANE_OK);
    EXPECT(syscall(SYS_read, pipe_ends[0], bytes, 15) == 15);
  }
  terrane_barrier();
  EXPECT(std::memcmp(bytes, "over a boundary", 15) == 0);
  EXPECT(terrane_touch(bytes + 1000 * kPage, 1, TERRANE_READ) == TERRANE_EADDR);
  EXPECT(terrane_touch(&node, 4, TERRANE_READ) == TERRANE_EADDR &&
         error_says("not in shared memory"));
  EXPECT(terrane_touch(bytes, 1, 0) == TERRANE_EINVAL);
}

void evict() {
  auto* bytes = allocate_all<std::uint8_t>(64 * kPage, TERRANE_HOMES_EXPLICIT, 0);
  if (terrane_node() == 1) {
    for (std::size_t i = 0; i < 64 * kPage; i += 100) at(bytes, i) = static_cast<std::uint8_t>(i);
    EXPECT(terrane_evict(bytes, 64 * kPage) == TERRANE_OK);
    EXPECT(counters().pages_evicted == 64);
    for (std::size_t i = 0; i < 64 * kPage; i += 100)
      EXPECT(at(bytes, i) == static_cast<std::uint8_t>(i));
  }
  terrane_barrier();
  for (std::size_t i = 0; i < 64 * kPage; i += 100)
    EXPECT(at(bytes, i) == static_cast<std::uint8_t>(i));
}

// Far more than a /dev/shm of 64 MiB.
void large() {
  constexpr std::size_t kBytes = 200u << 20;
  auto* bytes = allocate_all<std::uint8_t>(kBytes, TERRANE_HOMES_BLOCK);
  auto part = kBytes / static_cast<std::size_t>(terrane_nodes());
  std::size_t from = part * static_cast<std::size_t>(terrane_node());
  for (std::size_t i = from; i < from + part; i += kPage)
    at(bytes, i) = static_cast<std::uint8_t>(i / kPage);
  terrane_barrier();
  for (std::size_t i = 0; i < kBytes; i += 64 * kPage)
    EXPECT(at(bytes, i) == static_cast<std::uint8_t>(i / kPage));
}

// ---- bad input
// ------------------------------------------------------------------------------------------------------

// Programs may have been compiled with another version of the structs.
void sizes_of_structs() {
  struct Later {
    terrane_alloc_options options;
    std::uint64_t more;
  };
  Later later{};
  later.options.size = sizeof later;
  void* memory = terrane_alloc(kPage, &later.options);
  EXPECT(memory != nullptr && terrane_free(memory) == TERRANE_OK);
  later.more = 1;
  std::string said = "options.size " + std::to_string(sizeof later);
  EXPECT(terrane_alloc(kPage, &later.options) == nullptr && error_says(said.c_str()));
  later.options.size = 8;
  EXPECT(terrane_alloc(kPage, &later.options) == nullptr && error_says("options.size 8"));
  later.options.size = sizeof later.options;
  later.options.block_pages = 1;
  later.options.homes = TERRANE_HOMES_BLOCK_CYCLIC;
  memory = terrane_alloc(kPage, &later.options);
  EXPECT(memory != nullptr && terrane_free(memory) == TERRANE_OK);

  struct {
    terrane_counters counters;
    std::uint64_t later;
  } counted;
  counted.later = 7;
  EXPECT(terrane_read_counters(&counted.counters) == TERRANE_OK && counted.later == 7);
  EXPECT(counted.counters.elapsed_ns > 0);
  EXPECT(terrane_read_counters_sized(&counted.counters, sizeof counted) == TERRANE_OK);
  EXPECT(counted.counters.elapsed_ns > 0 && counted.later == 0);
  EXPECT(terrane_read_counters_sized(&counted.counters, 8) == TERRANE_EINVAL);
}

void misuse() {
  auto* bytes = allocate_all<std::uint8_t>(kPage);
  EXPECT(terrane_init() == TERRANE_ESTATE && error_says("twice"));
  EXPECT(terrane_alloc(0, nullptr) == nullptr && error_says("0 bytes"));
  EXPECT(terrane_alloc(~std::size_t{0} / 2, nullptr) == nullptr && error_says("TERRANE_SPACE"));
  terrane_alloc_options nowhere{TERRANE_HOMES_EXPLICIT, 77, nullptr};
  EXPECT(terrane_alloc(kPage, &nowhere) == nullptr && error_says("home node 77"));
  terrane_alloc_options strange{static_cast<terrane_homes>(9), 0, nullptr};
  EXPECT(terrane_alloc(kPage, &strange) == nullptr && error_says("home policy"));
  EXPECT(terrane_unlock(8) == TERRANE_ENOTHELD && error_says("lock 8 is not held"));
  EXPECT(terrane_lock(8) == TERRANE_OK);
  EXPECT(terrane_lock(8) == TERRANE_EINVAL && error_says("not recursive"));
  std::thread([] { EXPECT(terrane_unlock(8) == TERRANE_ENOTHELD); }).join();
  EXPECT(terrane_unlock(8) == TERRANE_OK);
  EXPECT(terrane_unlock(8) == TERRANE_ENOTHELD);
  EXPECT(terrane_barrier_threads(1, 0) == TERRANE_EINVAL);
  EXPECT(terrane_read_counters(nullptr) == TERRANE_EINVAL);
  sizes_of_structs();
  terrane_barrier();
  if (terrane_node() == 1) {
    EXPECT(terrane_free(&bytes) == TERRANE_EADDR && error_says("not in shared memory"));
    EXPECT(terrane_free(bytes + 8) == TERRANE_EADDR && error_says("not the start"));
    EXPECT(terrane_free(nullptr) == TERRANE_EADDR);
    EXPECT(terrane_free(bytes) == TERRANE_OK);
    EXPECT(terrane_free(bytes) == TERRANE_EADDR && error_says("freed already"));
  }
}

void mismatch() {
  std::size_t bytes = kPage * (terrane_node() == 0 ? 2 : 3);
  void* address = terrane_alloc_all(bytes, nullptr);
  std::fprintf(stderr, "%s\n", address == nullptr ? terrane_error() : "got memory");
  terrane_barrier();
}

void foreign() {
  auto* bytes = allocate_all<std::uint8_t>(kPage);
  terrane_barrier();
  if (terrane_node() == 1) at(bytes, 1000 * kPage) = 1;
  terrane_barrier();
}

void freed() {
  auto* bytes = allocate_all<std::uint8_t>(kPage);
  at(bytes, static_cast<std::size_t>(terrane_node())) = 1;
  terrane_barrier();
  if (terrane_node() == 0) EXPECT(terrane_free(bytes) == TERRANE_OK);
  // Node 1 hears of it with the grant of this lock at the latest.
  for (int i = 0; i < 50; ++i) terrane_barrier();
  if (terrane_node() == 1) {
    usleep(100'000);
    at(bytes, 1) = 2;
  }
  terrane_barrier();
}

// All could hold it together, but node 1 is the first to touch all of it.
void exhausted() {
  terrane_alloc_options here{TERRANE_HOMES_EXPLICIT, 1, nullptr};
  for (int r = 0; r < 2; ++r) {
    auto* bytes = static_cast<std::uint8_t*>(terrane_alloc_all(7u << 20, &here));
    if (terrane_node() == 1)
      for (std::size_t i = 0; i < 7u << 20; i += kPage) at(bytes, i) = 1;
    terrane_barrier();
  }
}

// Node 0 writes what is at home at node 1, which does nothing.
void filled_by_others() {
  terrane_alloc_options there{TERRANE_HOMES_EXPLICIT, 1, nullptr};
  for (int i = 0; i < 3; ++i) {
    auto* bytes = static_cast<std::uint8_t*>(terrane_alloc_all(6u << 20, &there));
    terrane_barrier();
    if (terrane_node() == 0)
      for (std::size_t b = 0; b < 6u << 20; b += kPage) at(bytes, b) = 1;
    terrane_barrier();
  }
}

// Node 1 has, or had, copies of what node 0 keeps, and waits; then node 0 writes what is at home at
// node 1. They make room.
void passive() {
  terrane_alloc_options at_0{TERRANE_HOMES_EXPLICIT, 0, nullptr};
  terrane_alloc_options at_1{TERRANE_HOMES_EXPLICIT, 1, nullptr};
  constexpr std::size_t kCopied = 3u << 20, kStored = 4u << 20;
  auto* copied = static_cast<std::uint8_t*>(terrane_alloc_all(kCopied, &at_0));
  auto* stored = static_cast<std::uint8_t*>(terrane_alloc_all(kStored, &at_1));
  if (terrane_node() == 0)
    for (std::size_t i = 0; i < kCopied; i += 512) at(copied, i) = static_cast<std::uint8_t>(i);
  terrane_barrier();
  if (terrane_node() == 1)
    for (std::size_t i = 0; i < kCopied; i += 512) at(copied, i + 1) = 7;
  terrane_barrier();
  if (terrane_node() == 0)
    for (std::size_t i = 0; i < kStored; i += 512) at(stored, i) = 9;
  terrane_barrier();
  for (std::size_t i = 0; i < kCopied; i += 512)
    EXPECT(at(copied, i) == static_cast<std::uint8_t>(i) && at(copied, i + 1) == 7);
  for (std::size_t i = 0; i < kStored; i += 512) EXPECT(at(stored, i) == 9);
}

void refused() {
  terrane_alloc_options there{TERRANE_HOMES_EXPLICIT, 1, nullptr};
  EXPECT(terrane_alloc(9u << 20, &there) == nullptr && error_says("node 1 (") &&
         error_says("would be the home of 9 MiB of a region of 9 MiB and may keep 8 MiB"));
  terrane_alloc_options spread{TERRANE_HOMES_CYCLIC, 0, nullptr};
  EXPECT(terrane_alloc(18u << 20, &spread) == nullptr && error_says("would be the home of 9 MiB"));
  EXPECT(terrane_alloc(17u << 20, nullptr) == nullptr &&
         error_says("a region of 17 MiB is larger than the memory of all nodes together, 16 MiB"));
  EXPECT(terrane_alloc(16u << 20, nullptr) != nullptr);
}

// What node 0 initialises and node 1 works on moves there; then node 0 does not keep it any more.
// It could not hold the second half otherwise.
void moved() {
  constexpr std::size_t kBytes = 5u << 20;
  for (int part = 0; part < 3; ++part) {
    auto* bytes = allocate_all<std::uint8_t>(kBytes);
    if (terrane_node() == 0)
      for (std::size_t i = 0; i < kBytes; i += 64) at(bytes, i) = 1;
    for (int round = 0; round < 4; ++round) {
      terrane_barrier();
      if (terrane_node() == 1 + part % 2)
        for (std::size_t i = 0; i < kBytes; i += 64)
          at(bytes, i) = static_cast<std::uint8_t>(at(bytes, i) + 1);
    }
    terrane_barrier();
    for (std::size_t i = 0; i < kBytes; i += 4 * kPage) EXPECT(at(bytes, i) == 5);
    terrane_barrier();
  }
}

// Copies of more than the limit: they come and go, nothing is lost.
void crowded() {
  constexpr std::size_t kBytes = 16u << 20;
  auto* bytes = allocate_all<std::uint8_t>(kBytes, TERRANE_HOMES_EXPLICIT, 0);
  if (terrane_node() == 1)
    for (std::size_t i = 0; i < kBytes; i += 512) at(bytes, i) = static_cast<std::uint8_t>(i / 512);
  terrane_barrier();
  for (std::size_t i = 0; i < kBytes; i += 512)
    EXPECT(at(bytes, i) == static_cast<std::uint8_t>(i / 512));
  if (terrane_node() == 1) EXPECT(counters().pages_evicted > 1000);
}

// The kernel answers userfaultfd with EPERM, as a strict container does; /dev/userfaultfd is not to
// be had either.
void deny_userfaultfd() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the system call's number
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, filter};
  if (setuid(65534) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("seccomp");
    std::exit(9);
  }
}

const std::map<std::string, void (*)()> kModes = {
    {"basics", basics},
    {"writers", writers},
    {"homes", homes},
    {"tracking", tracking},
    {"threads", threads},
    {"semaphores", semaphores},
    {"conditions", conditions},
    {"flags", flags},
    {"reductions", reductions},
    {"touch", touch},
    {"evict", evict},
    {"large", large},
    {"refused", refused},
    {"filled-by-others", filled_by_others},
    {"moved", moved},
    {"passive", passive},
    {"stopped", stopped},
    {"absent", absent},
    {"alone", alone},
    {"holder", holder},
    {"unsignalled", unsignalled},
    {"forgetful", forgetful},
    {"misuse", misuse},
    {"mismatch", mismatch},
    {"foreign", foreign},
    {"freed", freed},
    {"exhausted", exhausted},
    {"crowded", crowded},
    {"nothing", [] {}},
    {"denied", basics},
};

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "early") {
    bool refused = terrane_barrier() == TERRANE_ESTATE && error_says("before terrane_init") &&
                   terrane_node() == TERRANE_ESTATE && terrane_alloc(1, nullptr) == nullptr;
    return refused ? 0 : 9;
  }
  if (mode == "denied") deny_userfaultfd();
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  auto found = kModes.find(mode);
  if (found == kModes.end()) return 4;
  found->second();
  if (terrane_finalize() != TERRANE_OK) return 5;
  auto fails_after = [] {
    EXPECT(terrane_barrier() == TERRANE_ESTATE && error_says("after terrane_finalize"));
  };
  fails_after();
  std::atexit(fails_after);  // runs when the objects of this thread are destroyed
  std::puts("good");
  return 0;
}
