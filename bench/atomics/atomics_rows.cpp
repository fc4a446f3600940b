// A program with atomic operations of two threads, as a user compiles it, for bench_atomics.py.
//   terrane_bench_atomics_rows [WAY...]
// For each way (default: all) a line WAY=NS: nanoseconds of an operation, or of a hand-over, in
// half a second. Ends with 1 if an operation was lost or data were older than their flag.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Word = std::atomic<std::uint64_t>;

constexpr std::uint64_t kBetweenLooks = 64;  // operations between two looks at the clock
constexpr std::size_t kPage = 4096, kScattered = 1u << 20;

struct alignas(kPage) Page {
  Word word{0};
};
struct alignas(kPage) Line {
  std::array<std::uint64_t, 8> words{};
};

std::array<Page, 2> own;
Page shared, turn, flag;
Line data;
std::atomic<double> sums[kScattered];

[[noreturn]] void die(const char* way, const char* what) {
  std::fprintf(stderr, "atomics_rows: %s: %s\n", way, what);
  std::exit(1);
}

bool is_over(Clock::time_point end) { return Clock::now() >= end; }

// Both threads call `one(thread, i)` again and again. Returns how often in all.
template <typename Operation>
std::uint64_t repeat(Clock::time_point end, Operation one) {
  std::array<std::uint64_t, 2> done{};
  auto turn_of = [&](std::size_t thread) {
    std::uint64_t count = 0;
    while (!is_over(end))
      for (std::uint64_t i = 0; i < kBetweenLooks; ++i) one(thread, count++);
    done[thread] = count;
  };
  std::thread second(turn_of, 1);
  turn_of(0);
  second.join();
  return done[0] + done[1];
}

// The threads hand something to each other: a thread calls `pass(count)` in its turn, and
// `await(count)` until the next one. Returns how often they did so.
template <typename Pass, typename Await>
std::uint64_t alternate(Clock::time_point end, Pass pass, Await await) {
  constexpr std::uint64_t kOver = ~0ull;
  std::uint64_t count = 0;
  std::thread second([&] {
    for (std::uint64_t i = 1; await(i) != kOver; i += 2) pass(i + 1);
  });
  do {
    for (std::uint64_t i = 0; i < kBetweenLooks / 2; ++i, count += 2) {
      pass(count + 1);
      await(count + 2);
    }
  } while (!is_over(end));
  pass(kOver);
  second.join();
  return count;
}

std::uint64_t private_words(Clock::time_point end) {
  for (Page& page : own) page.word = 0;
  std::uint64_t count = repeat(end, [](std::size_t thread, std::uint64_t) { ++own[thread].word; });
  if (own[0].word + own[1].word != count) die("private", "an operation was lost");
  return count;
}

std::uint64_t one_word(Clock::time_point end) {
  shared.word = 0;
  std::uint64_t count = repeat(end, [](std::size_t, std::uint64_t) { ++shared.word; });
  if (shared.word != count) die("contended", "an operation was lost");
  return count;
}

// As the assembly of a matrix: sums whose values nobody reads meanwhile.
std::uint64_t scattered_sums(Clock::time_point end) {
  for (auto& sum : sums) sum.store(0, std::memory_order_relaxed);
  std::uint64_t count = repeat(end, [](std::size_t thread, std::uint64_t i) {
    std::uint64_t at = (2 * i + thread) * 0x9e3779b97f4a7c15u >> 44;
    sums[at % kScattered].fetch_add(1.0, std::memory_order_relaxed);
  });
  double all = 0;
  for (auto& sum : sums) all += sum.load(std::memory_order_relaxed);
  if (all != static_cast<double>(count)) die("scattered", "a sum was lost");
  return count;
}

// A word that one thread changes, then the other, by atomic operations alone.
std::uint64_t moving_word(Clock::time_point end) {
  turn.word = 0;
  return alternate(
      end, [](std::uint64_t next) { turn.word.exchange(next); },
      [](std::uint64_t wanted) {
        std::uint64_t seen;
        do {
          seen = turn.word.fetch_add(0);
        } while (seen < wanted);
        return seen;
      });
}

// Data by plain stores, shown by a flag.
std::uint64_t flag_and_data(Clock::time_point end) {
  flag.word = 0;
  return alternate(
      end,
      [](std::uint64_t next) {
        for (std::uint64_t& word : data.words) word = next;
        flag.word.store(next, std::memory_order_release);
      },
      [](std::uint64_t wanted) {
        std::uint64_t seen;
        do {
          seen = flag.word.load(std::memory_order_acquire);
        } while (seen < wanted);
        for (std::uint64_t word : data.words)
          if (word != seen) die("flag", "data are older than their flag");
        return seen;
      });
}

struct Way {
  const char* name;
  std::uint64_t (*run)(Clock::time_point end);
};
constexpr Way kWays[] = {{"private", private_words},
                         {"contended", one_word},
                         {"scattered", scattered_sums},
                         {"moving", moving_word},
                         {"flag", flag_and_data}};

void measure(const Way& way) {
  constexpr std::chrono::milliseconds kFirst{100}, kFor{500};  // pages become what they stay
  way.run(Clock::now() + kFirst);
  Clock::time_point begin = Clock::now();
  std::uint64_t count = way.run(begin + kFor);
  double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  std::printf("%s=%.1f\n", way.name, ns / static_cast<double>(count));
}

}  // namespace

int main(int argc, char** argv) {
  for (const Way& way : kWays) {
    bool is_wanted = argc == 1;
    for (int i = 1; i < argc; ++i) is_wanted = is_wanted || std::strcmp(argv[i], way.name) == 0;
    if (is_wanted) measure(way);
  }
}
