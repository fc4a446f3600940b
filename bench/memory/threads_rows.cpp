// A program that knows nothing of Terrane, for bench_memory.py: main fills memory and reads it.
//   terrane_bench_memory_threads_0_rows heap|static|mapping MIB [LOOKUPS [THREADS [FAR_MIB
//   [PAGES]]]]
// With lookups: words at random places, by main and by so many threads together. With FAR_MIB: a
// sweep of the first so many MiB, and one word of each of so many pages there.
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <thread>

#include "words.h"

namespace {

constexpr std::size_t kMib = std::size_t{1} << 20;
constexpr std::size_t kStaticMib = STATIC_MIB;  // 0: this build has no static array

std::uint64_t static_words[kStaticMib * kMib / sizeof(std::uint64_t) + 1];

// Not owned: it lives as long as the program.
std::uint64_t* words_of(const char* kind, std::size_t bytes) {
  if (std::strcmp(kind, "static") == 0)
    return bytes <= sizeof static_words ? static_words : nullptr;
  if (std::strcmp(kind, "heap") == 0) return static_cast<std::uint64_t*>(std::malloc(bytes));
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(mapped);
}

std::size_t look_up_by_threads(const std::uint64_t* memory, std::size_t count, std::size_t lookups,
                               std::size_t threads) {
  std::vector<std::size_t> wrong(threads);
  std::vector<std::thread> team;
  for (std::size_t t = 0; t < threads; ++t)
    team.emplace_back(
        [&, t] { wrong[t] = words::look_up(memory, count, lookups / threads, t + 1); });
  for (std::thread& thread : team) thread.join();
  return std::accumulate(wrong.begin(), wrong.end(), std::size_t{0});
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t bytes = words::number(argc, argv, 2, 0) * kMib;
  std::size_t lookups = words::number(argc, argv, 3, 0), threads = words::number(argc, argv, 4, 1);
  std::size_t far = words::number(argc, argv, 5, 0) * kMib / sizeof(std::uint64_t);
  std::size_t pages = words::number(argc, argv, 6, 0);
  std::uint64_t* memory = bytes == 0 ? nullptr : words_of(argv[1], bytes);
  if (memory == nullptr) {
    std::fprintf(stderr, "usage: %s heap|static|mapping MIB ...; static: up to %zu\n", argv[0],
                 kStaticMib);
    return 2;
  }
  std::size_t count = bytes / sizeof(std::uint64_t), wrong = 0;
  words::Watch watch;
  words::fill(memory, 0, count);
  watch.lap("fill");
  wrong += words::sweep(memory, 0, count);
  watch.lap("sweep");
  if (lookups != 0) {
    wrong += words::look_up(memory, count, lookups, 0);
    watch.lap("lookups");
    wrong += look_up_by_threads(memory, count, lookups, threads);
    watch.lap("threads");
  }
  if (far != 0) {
    wrong += words::sweep(memory, far, count);
    watch.lap("near");
    wrong += words::sweep(memory, 0, far);
    watch.lap("far");
    wrong += words::visit(memory, far / 2, pages);  // of the half that was read longest ago
    watch.lap("pages");
  }
  return words::verdict(wrong);
}
