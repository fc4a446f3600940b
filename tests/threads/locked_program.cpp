// What compilers make locked instructions of, compiled as any program: atomics of all sizes, the
// older __sync functions, counts of references, promises. Prints "good". As an argument: "counts",
// words alone, in whose order nothing else is; "trap", a program with traps of its own; "library
// FILE", a library that it opens later.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4, kRounds = 160;

// Neighbours: words of one page, and of the same eight bytes.
struct Words {
  std::atomic<std::uint8_t> byte{0};
  std::atomic<std::uint16_t> half{0};
  std::atomic<std::uint32_t> word{0};
  std::atomic<std::uint64_t> wide{0};
  std::atomic<std::int64_t> down{0};
};
Words words;
int older = 0;
std::array<std::atomic<std::uint64_t>, 4> bits{};
std::atomic<int> largest{0}, taken{0};
std::atomic<void*> top{nullptr};
struct alignas(16) Pair {
  std::uint64_t first, second;
};
Pair pair{0, 0};

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

// cmpxchg16b and bts, as libraries write them.
void add_to_pair() {
  for (;;) {
    Pair before{pair.first, pair.second};
    bool done = false;
    asm volatile("lock cmpxchg16b %[pair]\n\tsete %[done]"
                 : [pair] "+m"(pair), [done] "=q"(done), "+a"(before.first), "+d"(before.second)
                 : "b"(before.first + 1), "c"(before.second + 2)
                 : "cc", "memory");
    if (done) return;
  }
}
bool set_bit(std::uint64_t number) {
  bool was = false;
  asm volatile("lock btsq %[number], %[bits]\n\tsetc %[was]"
               : [bits] "+m"(bits), [was] "=q"(was)
               : [number] "r"(number)
               : "cc", "memory");
  return was;
}

struct Node {
  Node* next;
};
void push(Node* node) {
  void* before = top.load();
  do node->next = static_cast<Node*>(before);
  while (!top.compare_exchange_weak(before, node));
}

// They begin at once: threads one after the other would lose nothing.
pthread_barrier_t start;

void count(Words& heap, int number, const std::shared_ptr<int>& shared) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < kRounds; ++i) {
    std::shared_ptr<int> copy = shared;
    for (Words* one : {&words, &heap}) {
      one->byte.fetch_add(1);
      one->half.fetch_add(3);
      one->word.fetch_sub(5);
      one->wide += 7;
      --one->down;
    }
    __sync_fetch_and_add(&older, 2);
    add_to_pair();
    int seen = largest.load();
    while (seen < i * kThreads + number &&
           !largest.compare_exchange_weak(seen, i * kThreads + number)) {
    }
    if (i < 64 && set_bit(static_cast<std::uint64_t>(i * kThreads + number)))
      require(false, "a bit was set before");
    if (i % 16 == 0) push(new Node);
    taken.fetch_xor(1 << number);
  }
}

void require_words(const Words& one) {
  constexpr int kAll = kThreads * kRounds;
  require(one.byte == static_cast<std::uint8_t>(kAll), "byte");
  require(one.half == static_cast<std::uint16_t>(3 * kAll), "half");
  require(one.word == static_cast<std::uint32_t>(-5 * kAll), "word");
  require(one.wide == 7u * kAll, "wide");
  require(one.down == -kAll, "down");
}

void count_everywhere() {
  auto heap = std::make_unique<Words>();
  auto shared = std::make_shared<int>(1);
  pthread_barrier_init(&start, nullptr, kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([&, number] { count(*heap, number, shared); });
  for (std::thread& one : threads) one.join();
  require_words(words);
  require_words(*heap);
  require(older == 2 * kThreads * kRounds, "older");
  require(pair.first == kThreads * kRounds && pair.second == 2 * pair.first, "pair");
  require(largest == (kRounds - 1) * kThreads + kThreads - 1, "largest");
  require(taken == 0, "taken");
  for (auto& one : bits) require(one == ~std::uint64_t{0}, "bits");
  require(shared.use_count() == 1, "references");
  int nodes = 0;
  for (auto* node = static_cast<Node*>(top.load()); node != nullptr; node = node->next) ++nodes;
  require(nodes == kThreads * kRounds / 16, "list");
}

void keep_promises() {
  for (int round = 0; round < 8; ++round) {
    std::promise<int> asked;
    std::packaged_task<int(int)> task([](int number) { return 2 * number; });
    std::future<int> first = asked.get_future(), second = task.get_future();
    std::thread giver([&] { asked.set_value(round); });
    std::thread worker([&] { task(round); });
    require(first.get() == round && second.get() == 2 * round, "promise");
    giver.join();
    worker.join();
  }
}

std::atomic_flag busy = ATOMIC_FLAG_INIT;
int guarded[2048];

// A lock whose end is a plain store: a thread that waits for it changes nothing.
void wait_for_flag() {
  while (busy.test_and_set(std::memory_order_acquire)) {
  }
  std::thread waiter([] {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
    require(guarded[1500] == 1, "what the flag guards");
  });
  usleep(100'000);
  guarded[1500] = 1;
  busy.clear(std::memory_order_release);
  usleep(100'000);
  waiter.join();
}

// All that a spin lock guards is seen by the thread that takes it, though its end is a plain store.
void count_under_flag() {
  constexpr int kTurns = 20;
  std::vector<std::thread> threads;
  guarded[0] = guarded[1500] = 0;
  pthread_barrier_init(&start, nullptr, kThreads);
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([] {
      pthread_barrier_wait(&start);
      for (int i = 0; i < kTurns; ++i) {
        while (busy.test_and_set(std::memory_order_acquire)) {
        }
        ++guarded[0];
        guarded[1500] += 2;
        busy.clear(std::memory_order_release);
      }
    });
  for (std::thread& one : threads) one.join();
  require(guarded[0] == kThreads * kTurns && guarded[1500] == 2 * guarded[0], "under the flag");
}

volatile sig_atomic_t traps = 0;
void on_trap(int) { traps = traps + 1; }

// SIGTRAP stays the program's: its own instruction, a signal, and a mask that closes it.
void use_traps() {
  struct sigaction action {};
  action.sa_handler = on_trap;
  require(sigaction(SIGTRAP, &action, nullptr) == 0, "sigaction");
  asm volatile("int3");
  raise(SIGTRAP);
  require(traps == 2, "traps");
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  count_everywhere();
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, &before, &now);
  require(sigismember(&now, SIGTRAP) == 1 && sigismember(&before, SIGTRAP) == 0, "mask");
  struct sigaction was {};
  require(sigaction(SIGTRAP, nullptr, &was) == 0 && was.sa_handler == on_trap, "action");
}

void use_library(const char* file) {
  void* library = dlopen(file, RTLD_NOW);
  require(library != nullptr, "dlopen");
  auto* count_up = reinterpret_cast<int (*)()>(dlsym(library, "count_up"));
  require(count_up != nullptr, "dlsym");
  pthread_barrier_init(&start, nullptr, kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([&] {
      pthread_barrier_wait(&start);
      for (int i = 0; i < kRounds; ++i) count_up();
    });
  for (std::thread& one : threads) one.join();
  require(count_up() == kThreads * kRounds + 1, "the library's count");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "trap") == 0) {
    use_traps();
  } else if (argc > 1 && std::strcmp(argv[1], "counts") == 0) {
    count_everywhere();
  } else if (argc > 2) {
    use_library(argv[2]);
  } else {
    count_everywhere();
    keep_promises();
    wait_for_flag();
    busy.clear();
    count_under_flag();
  }
  std::puts("good");
}
