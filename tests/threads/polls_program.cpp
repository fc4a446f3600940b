// Threads that wait for a word which others only store, in all ways that programs wait. Each word
// has a page of its own, and so has what it announces. Prints "good". As an argument: a way, to
// wait in that one alone.
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kWaiters = 2, kRounds = 3;

void require(bool holds, const char* what, const char* way = "all") {
  if (holds) return;
  std::printf("wrong: %s (%s)\n", what, way);
  std::exit(1);
}

struct alignas(4096) Word {
  std::atomic<int> now{0};
};
struct alignas(4096) Data {
  std::array<int, 1024> numbers{};
};

// Whether to wait on.
bool is_early(const Word& word, int round) {
  return word.now.load(std::memory_order_acquire) < round;
}

void only_load(const Word& word, int round) {
  while (is_early(word, round)) {
  }
}

void yield(const Word& word, int round) {
  while (is_early(word, round)) sched_yield();
}

void count_rounds(const Word& word, int round) {
  unsigned long rounds = 0;
  while (is_early(word, round)) {
    ++rounds;
    asm volatile("" : "+r"(rounds));
  }
}

void back_off(const Word& word, int round) {
  for (int pause = 1; is_early(word, round); pause = pause < 256 ? 2 * pause : 1) {
    for (int i = 0; i < pause; ++i) asm volatile("");
    if (pause == 256) std::this_thread::yield();
  }
}

void look_at_a_clock(const Word& word, int round) {
  const Clock::time_point end = Clock::now() + std::chrono::minutes(5);
  while (is_early(word, round)) require(Clock::now() < end, "the time is over");
}

void sleep_shortly(const Word& word, int round) {
  while (is_early(word, round)) std::this_thread::sleep_for(milliseconds(1));
}

void wait_for_no_file(const Word& word, int round) {
  while (is_early(word, round)) ::poll(nullptr, 0, 2);
}

// A condition that nobody signals, and a mutex that nobody else takes.
void wait_for_a_condition(const Word& word, int round) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock hold(mutex);
  while (is_early(word, round)) condition.wait_for(hold, milliseconds(2));
}

// As a worker that looks for work at several places.
void look_at_more(const Word& word, int round) {
  static std::array<Word, 4> others;
  auto looks = std::make_unique<volatile long>(0);
  while (is_early(word, round)) {
    for (const Word& other : others) require(other.now == 0, "work that nobody gave");
    *looks = *looks + 1;
  }
}

struct Way {
  const char* name;
  void (*wait)(const Word&, int);
  bool is_in_order = true;  // false: it makes its node hear of words before their data
};
constexpr Way kWays[] = {{"load", only_load},        {"yield", yield},
                         {"count", count_rounds},    {"back off", back_off},
                         {"clock", look_at_a_clock}, {"sleep", sleep_shortly},
                         {"poll", wait_for_no_file}, {"condition", wait_for_a_condition, false},
                         {"more", look_at_more}};
constexpr std::size_t kCount = std::size(kWays);

std::array<Word, kCount> words;
std::array<Data, kCount> data;
std::array<Word, kCount> answers;  // changed by atomic operations, so seen at once

// A waiter has seen the word of before. What semaphores tell its node may come in the first round.
void pass(std::size_t at) {
  const Way& way = kWays[at];
  sem_t has_looked;
  sem_init(&has_looked, 0, 0);
  std::vector<std::thread> waiters;
  for (int number = 0; number < kWaiters; ++number)
    waiters.emplace_back([&] {
      require(words[at].now == 0 && data[at].numbers[0] == 0, "the beginning");
      sem_post(&has_looked);
      for (int round = 1; round <= kRounds; ++round) {
        way.wait(words[at], round);
        for (int one : data[at].numbers)
          require(one == round || round == 1 || !way.is_in_order, "data are older than their word",
                  way.name);
        ++answers[at].now;
      }
    });
  for (int number = 0; number < kWaiters; ++number) sem_wait(&has_looked);
  for (int round = 1; round <= kRounds; ++round) {
    for (int& one : data[at].numbers) one = round;
    words[at].now.store(round, std::memory_order_release);
    while (is_early(answers[at], round * kWaiters)) sched_yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
  sem_destroy(&has_looked);
}

// A loop that reads the same word again and again, and does not wait for it: another thread stores
// beside it.
struct alignas(4096) {
  std::atomic<int> factor{3}, beside{0};
} constants;
void compute_beside() {
  std::atomic<int> done{0};
  std::thread computing([&] {
    const Clock::time_point end = Clock::now() + milliseconds(600);
    unsigned all = 0;
    while (Clock::now() < end) {
      for (int i = 0; i < 1000; ++i)
        all = all * static_cast<unsigned>(constants.factor.load(std::memory_order_relaxed)) + 1;
    }
    require(all != 0, "the sum");
    ++done;
  });
  for (int i = 0; done == 0; ++i) constants.beside.store(i, std::memory_order_relaxed);
  computing.join();
}

}  // namespace

int main(int argc, char** argv) {
  for (std::size_t at = 0; at < kCount; ++at)
    if (argc == 1 || std::string(argv[1]) == kWays[at].name) pass(at);
  if (argc > 1 && std::string(argv[1]) == "compute") compute_beside();
  std::puts("good");
}
