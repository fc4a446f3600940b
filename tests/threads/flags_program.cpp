// Threads that synchronise by ordinary loads and stores, compiled as any program: spin and ticket
// locks, flags, a sequence lock, Peterson's algorithm, a work-stealing queue. Prints "good".
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3, kRounds = 60;

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

void run(int threads, void (*work)(int)) {
  std::vector<std::thread> all;
  for (int number = 0; number < threads; ++number) all.emplace_back(work, number);
  for (std::thread& one : all) one.join();
}

// Pages of their own, so that what a flag announces does not come with it.
struct alignas(4096) Data {
  std::array<int, 1024> numbers;
};
Data data, more, mail;

// The end of it is a plain store.
std::atomic_flag busy = ATOMIC_FLAG_INIT;
void spin(int) {
  for (int i = 0; i < kRounds; ++i) {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
    for (std::size_t at = 0; at < data.numbers.size(); at += 100) ++data.numbers[at];
    busy.clear(std::memory_order_release);
  }
}

// A thread that waits only loads.
struct alignas(4096) {
  std::atomic<unsigned> next_ticket{0}, served{0};
} tickets;
void take_tickets(int) {
  for (int i = 0; i < kRounds; ++i) {
    unsigned mine = tickets.next_ticket.fetch_add(1, std::memory_order_relaxed);
    while (tickets.served.load(std::memory_order_acquire) != mine) {
    }
    for (std::size_t at = 0; at < more.numbers.size(); at += 100) ++more.numbers[at];
    tickets.served.store(mine + 1, std::memory_order_release);
  }
}

// Each letter is read by all others before the next one is written.
struct alignas(4096) {
  std::atomic<int> sent{0}, read_by{0};
} post;
void pass_mail(int number) {
  for (int i = 1; i <= kRounds; ++i) {
    if (number == 0) {
      for (int& one : mail.numbers) one = i;
      post.sent.store(i, std::memory_order_release);
      while (post.read_by.load(std::memory_order_acquire) != i * (kThreads - 1)) {
      }
      continue;
    }
    while (post.sent.load(std::memory_order_acquire) < i) {
    }
    for (int one : mail.numbers) require(one == i, "a letter is newer or older than its flag");
    post.read_by.fetch_add(1, std::memory_order_release);
  }
}

// Two words in one order.
struct alignas(4096) Wish {
  std::atomic<bool> is{false};
};
std::array<Wish, 2> wants;
alignas(4096) std::atomic<int> turn{0};
int entered = 0;
void exclude(int number) {
  int other = 1 - number;
  for (int i = 0; i < kRounds; ++i) {
    wants[static_cast<std::size_t>(number)].is = true;
    turn = other;
    while (wants[static_cast<std::size_t>(other)].is && turn == other) {
    }
    ++entered;
    wants[static_cast<std::size_t>(number)].is = false;
  }
}

// Readers of a sequence lock try again when a writer was there.
struct alignas(4096) {
  std::atomic<unsigned> sequence{0};
  std::array<std::atomic<int>, 8> record{};
  std::atomic<bool> written{false};
} books;
void use_sequence(int number) {
  if (number == 0) {
    for (int i = 1; i <= kRounds; ++i) {
      books.sequence.fetch_add(1, std::memory_order_acquire);
      for (auto& one : books.record) one.store(i, std::memory_order_relaxed);
      books.sequence.fetch_add(1, std::memory_order_release);
    }
    books.written = true;
    return;
  }
  while (!books.written) {
    unsigned before = books.sequence.load(std::memory_order_acquire);
    std::array<int, 8> seen{};
    for (std::size_t i = 0; i < seen.size(); ++i)
      seen[i] = books.record[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 != 0 || books.sequence.load(std::memory_order_relaxed) != before) continue;
    for (int one : seen) require(one == seen[0], "a record is torn");
  }
}

// Chase and Lev's queue (Dynamic circular work-stealing deque, SPAA 2005), with an array that is
// large enough: its owner takes at the bottom, thieves take at the top.
constexpr std::int64_t kTasks = 200;
alignas(4096) std::atomic<std::int64_t> top{0}, bottom{0};
std::array<std::atomic<int>, kTasks> tasks{};
std::array<std::atomic<int>, kTasks> done{};
std::atomic<int> all_done{0};
void do_task(int task) {
  require(done[static_cast<std::size_t>(task)].fetch_add(1) == 0, "a task is done twice");
  ++all_done;
}
bool take() {
  std::int64_t b = bottom.load() - 1;
  bottom = b;
  std::int64_t t = top.load();
  if (t > b) {
    bottom = b + 1;
    return false;
  }
  int task = tasks[static_cast<std::size_t>(b)].load();
  if (t == b) {
    bool won = top.compare_exchange_strong(t, t + 1);
    bottom = b + 1;
    if (!won) return false;
  }
  do_task(task);
  return true;
}
void steal() {
  std::int64_t t = top.load();
  if (t >= bottom.load()) return;
  int task = tasks[static_cast<std::size_t>(t)].load();
  if (top.compare_exchange_strong(t, t + 1)) do_task(task);
}
void use_queue(int number) {
  if (number != 0) {
    while (all_done < kTasks) steal();
    return;
  }
  // The place of a task that was taken at the bottom is used again.
  for (int task = 0; task < kTasks;) {
    for (int i = 0; i < 10 && task < kTasks; ++i, ++task) {
      tasks[static_cast<std::size_t>(bottom.load())] = task;
      ++bottom;
    }
    for (int i = 0; i < 5; ++i) take();
  }
  while (all_done < kTasks) take();
}

// Words in a page that no locked instruction changes: a thread that waits for one sees it at last.
alignas(4096) std::atomic<int> said{0};
void say(int number) {
  if (number == 0) {
    said.store(1, std::memory_order_release);
    return;
  }
  while (said.load(std::memory_order_acquire) == 0) {
  }
}

}  // namespace

int main() {
  run(kThreads, spin);
  for (std::size_t at = 0; at < data.numbers.size(); at += 100)
    require(data.numbers[at] == kThreads * kRounds, "spin lock");
  run(kThreads, take_tickets);
  for (std::size_t at = 0; at < more.numbers.size(); at += 100)
    require(more.numbers[at] == kThreads * kRounds, "ticket lock");
  post.read_by.exchange(0);  // a locked instruction on its page
  run(kThreads, pass_mail);
  run(2, exclude);
  require(entered == 2 * kRounds, "Peterson's algorithm");
  run(kThreads, use_sequence);
  run(kThreads, use_queue);
  run(kThreads, say);
  std::puts("good");
}
