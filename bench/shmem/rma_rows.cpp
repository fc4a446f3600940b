// What one PE's puts, gets and atomics to another on its host take, beside memcpy to and from the
// same memory in the same process. Run by bench_shmem.py as a job of 2 PEs; PE 0 prints a line a
// row: row=NAME memory=heap|statics bytes=N ns=X, the median over turns that rows take in turn.
#include <shmem.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr int kTurns = 11;
constexpr double kTurnNs = 1e6;

double now_ns() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

// Every call looks up its addresses anew, as one alone would.
void forget() { __asm__ __volatile__("" ::: "memory"); }

struct Row {
  std::string name;
  const char* memory;
  std::size_t bytes;
  std::function<void(long)> repeat;  // so many times
  std::vector<double> ns{};
};

double time_once(const Row& row, long times) {
  double start = now_ns();
  row.repeat(times);
  return (now_ns() - start) / static_cast<double>(times);
}

// The rows in turn, so that all meet the same moods of the machine.
void measure(std::vector<Row>& rows) {
  for (int turn = -1; turn < kTurns; ++turn) {
    for (Row& row : rows) {
      double once = time_once(row, 1);
      long times = std::max(1L, static_cast<long>(kTurnNs / std::max(once, 20.0)));
      double ns = time_once(row, times);
      if (turn >= 0) row.ns.push_back(ns);
    }
  }
  for (Row& row : rows) {
    std::nth_element(row.ns.begin(), row.ns.begin() + kTurns / 2, row.ns.end());
    std::printf("row=%s memory=%s bytes=%zu ns=%.2f\n", row.name.c_str(), row.memory, row.bytes,
                row.ns[kTurns / 2]);
  }
  std::fflush(stdout);
}

template <typename Call>
Row row(std::string name, const char* memory, std::size_t bytes, Call call) {
  return {std::move(name), memory, bytes, [call](long times) {
            for (long i = 0; i < times; ++i) {
              call(i);
              forget();
            }
          }};
}

volatile long sink;  // keeps results
long static_word;
char static_block[4096];

volatile std::size_t unknown_bytes;  // to the compiler: the library's own copy, memcpy's own too

void measure_words(long* word, const char* memory) {
  auto* there = static_cast<long*>(shmem_ptr(word, 1));
  static long here[2] = {1, 2};
  unknown_bytes = 8;
  std::vector<Row> rows;
  rows.push_back(row("memcpy", memory, 8, [=](long) { std::memcpy(there, here, unknown_bytes); }));
  rows.push_back(row("store", memory, 8, [=](long i) { *there = i; }));
  rows.push_back(row("p", memory, 8, [=](long i) { shmem_long_p(word, i, 1); }));
  rows.push_back(row("g", memory, 8, [=](long) { sink = shmem_long_g(word, 1); }));
  rows.push_back(row("put-8", memory, 8, [=](long) { shmem_putmem(word, here, 8, 1); }));
  rows.push_back(row("p+quiet", memory, 8, [=](long i) {
    shmem_long_p(word, i, 1);
    shmem_quiet();
  }));
  rows.push_back(
      row("fetch-add", memory, 8, [=](long) { sink = shmem_long_atomic_fetch_add(word, 1, 1); }));
  rows.push_back(row("own-fetch-add", memory, 8,
                     [=](long) { sink = __atomic_fetch_add(there, 1, __ATOMIC_SEQ_CST); }));
  measure(rows);
}

void measure_blocks(char* block, const char* memory, std::size_t most, char* here) {
  auto* there = static_cast<char*>(shmem_ptr(block, 1));
  for (std::size_t bytes = 1; bytes <= most; bytes *= 2) {
    unknown_bytes = bytes;
    std::vector<Row> rows;
    rows.push_back(
        row("memcpy-to", memory, bytes, [=](long) { std::memcpy(there, here, unknown_bytes); }));
    rows.push_back(
        row("put", memory, bytes, [=](long) { shmem_putmem(block, here, unknown_bytes, 1); }));
    rows.push_back(
        row("memcpy-from", memory, bytes, [=](long) { std::memcpy(here, there, unknown_bytes); }));
    rows.push_back(
        row("get", memory, bytes, [=](long) { shmem_getmem(here, block, unknown_bytes, 1); }));
    measure(rows);
  }
}

// A column of a matrix: 512 elements, 8 of them apart.
void measure_strides(long* there) {
  constexpr std::ptrdiff_t kApart = 8;
  constexpr std::size_t kCount = 512;
  static long here[kCount * kApart];
  std::vector<Row> rows;
  rows.push_back(row("iput-512", "heap", kCount * 8,
                     [=](long) { shmem_long_iput(there, here, kApart, kApart, kCount, 1); }));
  rows.push_back(row("p-512", "heap", kCount * 8, [=](long) {
    for (std::size_t i = 0; i < kCount; ++i) {
      shmem_long_p(&there[i * kApart], here[i * kApart], 1);
    }
  }));
  measure(rows);
}

}  // namespace

int main() {
  shmem_init();
  auto* heap = static_cast<char*>(shmem_malloc(kMostBytes));
  std::vector<char> here(kMostBytes, 1);
  if (shmem_my_pe() == 0 && shmem_n_pes() >= 2 && heap != nullptr) {
    std::memset(shmem_ptr(heap, 1), 1, kMostBytes);
    measure_words(reinterpret_cast<long*>(heap), "heap");
    measure_words(&static_word, "statics");
    measure_strides(reinterpret_cast<long*>(heap));
    measure_blocks(static_block, "statics", sizeof static_block, here.data());
    measure_blocks(heap, "heap", kMostBytes, here.data());
  }
  shmem_finalize();  // where PE 1 waits
}
