// How data are shared, by what becomes of copies: each pattern of sharing in regions of every
// protocol and propagation, in turn; medians. And atomic operations, of one node and of all at
// once. Prints one line of key=value pairs a row. Usage: terrane run -n 2
// terrane_bench_pattern_rows
// [--repeat N]
#include <terrane/pages.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "platform/wait.h"

namespace {

using terrane::platform::now_ns;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 64;
constexpr std::size_t kRecordPages = 8;
constexpr std::uint32_t kLock = 3;

struct Kind {
  const char* protocol;
  const char* propagation;
  terrane_alloc_options options;
};
const Kind kKinds[] = {
    {"hlrc", "invalidate", {.protocol = TERRANE_PROTOCOL_HLRC, .propagation = TERRANE_INVALIDATE}},
    {"hlrc", "update", {.protocol = TERRANE_PROTOCOL_HLRC, .propagation = TERRANE_UPDATE}},
    {"hlrc", "adaptive", {.protocol = TERRANE_PROTOCOL_HLRC, .propagation = TERRANE_ADAPTIVE}},
    {"erc", "invalidate", {.protocol = TERRANE_PROTOCOL_ERC, .propagation = TERRANE_INVALIDATE}},
    {"erc", "update", {.protocol = TERRANE_PROTOCOL_ERC, .propagation = TERRANE_UPDATE}},
    {"erc", "adaptive", {.protocol = TERRANE_PROTOCOL_ERC, .propagation = TERRANE_ADAPTIVE}},
};

int self() { return terrane_node(); }
int nodes() { return terrane_nodes(); }

void write_page(std::uint8_t* page, std::uint32_t round) {
  for (std::size_t i = 0; i < kPage; i += 64)
    *const_cast<volatile std::uint8_t*>(page + i) = static_cast<std::uint8_t>(round + i);
}

std::uint64_t read_page(const std::uint8_t* page) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kPage; i += 64)
    sum += *const_cast<const volatile std::uint8_t*>(page + i);
  return sum;
}

// One node writes all pages, then the others read them.
void producer_consumer(std::uint8_t* pages, std::uint32_t round) {
  if (self() == 0)
    for (std::size_t p = 0; p < kPages; ++p) write_page(pages + p * kPage, round);
  terrane_barrier();
  if (self() != 0)
    for (std::size_t p = 0; p < kPages; ++p) read_page(pages + p * kPage);
  terrane_barrier();
}

// The same, but what is written is seldom read.
void seldom_read(std::uint8_t* pages, std::uint32_t round) {
  if (self() == 0)
    for (std::size_t p = 0; p < kPages; ++p) write_page(pages + p * kPage, round);
  terrane_barrier();
  if (self() != 0 && round % 16 == 0)
    for (std::size_t p = 0; p < kPages; ++p) read_page(pages + p * kPage);
  terrane_barrier();
}

// All read all pages; now and then one of them is written, by one node after the other.
void read_mostly(std::uint8_t* pages, std::uint32_t round) {
  std::uint32_t turn = round / 4;
  if (round % 4 == 0 && static_cast<int>(turn % static_cast<std::uint32_t>(nodes())) == self())
    write_page(pages + turn * 7 % kPages * kPage, round);
  terrane_barrier();
  for (std::size_t p = 0; p < kPages; ++p) read_page(pages + p * kPage);
  terrane_barrier();
}

// A record of some pages goes from node to node under a lock.
void migratory(std::uint8_t* pages, std::uint32_t round) {
  terrane_lock(kLock);
  for (std::size_t p = 0; p < kRecordPages; ++p) {
    read_page(pages + p * kPage);
    write_page(pages + p * kPage, round);
  }
  terrane_unlock(kLock);
}

struct Pattern {
  const char* name;
  void (*round)(std::uint8_t*, std::uint32_t);
};
constexpr Pattern kPatterns[] = {{"producer-consumer", producer_consumer},
                                 {"read-mostly", read_mostly},
                                 {"seldom-read", seldom_read},
                                 {"migratory", migratory}};

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

// Microseconds a round.
double measure(const Pattern& pattern, std::uint8_t* pages, std::uint32_t& round) {
  constexpr std::uint32_t kRounds = 128;
  terrane_barrier();
  std::uint64_t from = now_ns();
  for (std::uint32_t i = 0; i < kRounds; ++i) pattern.round(pages, ++round);
  terrane_barrier();
  return static_cast<double>(now_ns() - from) / kRounds / 1e3;
}

// Measures in a region of its own, after as many rounds in which its copies settle: otherwise
// copies that readers keep and refresh for one kind would cost time in the barriers of the next.
double measure_alone(const Pattern& pattern, const Kind& kind) {
  auto* pages = static_cast<std::uint8_t*>(terrane_alloc_all(kPages * kPage, &kind.options));
  if (pages == nullptr) {
    std::fprintf(stderr, "terrane_bench_pattern_rows: %s\n", terrane_error());
    std::exit(1);
  }
  std::uint32_t round = 0;
  measure(pattern, pages, round);
  double us = measure(pattern, pages, round);
  terrane_barrier();
  if (self() == 0) terrane_free(pages);
  terrane_barrier();
  return us;
}

void patterns(int repeat) {
  for (const Pattern& pattern : kPatterns) {
    std::vector<std::vector<double>> samples(std::size(kKinds));
    for (int r = 0; r < repeat; ++r)
      for (std::size_t k = 0; k < std::size(kKinds); ++k)
        samples[k].push_back(measure_alone(pattern, kKinds[k]));
    for (std::size_t k = 0; k < std::size(kKinds) && self() == 0; ++k)
      std::printf("pattern=%s protocol=%s propagation=%s us=%.2f\n", pattern.name,
                  kKinds[k].protocol, kKinds[k].propagation, median(samples[k]));
  }
}

// Nanoseconds an operation, on a word whose home is node 0.
void atomics(int repeat) {
  constexpr int kTimes = 2000;
  const terrane_alloc_options options{.homes = TERRANE_HOMES_EXPLICIT, .home = 0};
  auto* word = static_cast<std::uint64_t*>(terrane_alloc_all(kPage, &options));
  auto time = [&](auto operation) {
    std::uint64_t from = now_ns();
    for (int i = 0; i < kTimes; ++i) operation();
    return static_cast<double>(now_ns() - from) / kTimes;
  };
  auto add = [&] { terrane_atomic_fetch(word, 8, TERRANE_ATOMIC_ADD, 1, nullptr); };
  auto count = [&] { terrane_counter_fetch(1, TERRANE_COUNTER_ADD, 1, nullptr); };
  std::map<std::string, std::vector<double>> samples;
  for (int r = 0; r < repeat; ++r) {
    terrane_barrier();
    if (self() == 0) samples["fetch-add at its home"].push_back(time(add));
    terrane_barrier();
    if (self() == 1) samples["fetch-add elsewhere"].push_back(time(add));
    terrane_barrier();
    samples["fetch-add, all at once"].push_back(time(add));
    terrane_barrier();
    samples["counter, all at once"].push_back(time(count));
  }
  std::uint64_t sum = 0;
  terrane_barrier();
  terrane_atomic_load(word, 8, &sum);
  bool right = sum == static_cast<std::uint64_t>(kTimes) * static_cast<std::uint64_t>(repeat) *
                          static_cast<std::uint64_t>(nodes() + 2);
  for (auto& [name, times] : samples)
    if (self() == 1)
      std::printf("atomic=%s ns=%.1f right=%d\n", name.c_str(), median(times), right);
  if (self() == 0)
    std::printf("atomic=fetch-add at its home ns=%.1f right=%d\n",
                median(samples["fetch-add at its home"]), right);
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = argc == 3 && std::strcmp(argv[1], "--repeat") == 0 ? std::atoi(argv[2]) : 7;
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 1;
  if (nodes() < 2 || repeat < 1) {
    std::fprintf(stderr, "terrane_bench_pattern_rows: at least 2 nodes, and one repetition\n");
    return 2;
  }
  patterns(repeat);
  atomics(repeat);
  return terrane_finalize() == TERRANE_OK ? 0 : 1;
}
