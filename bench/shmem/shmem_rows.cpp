// What OpenSHMEM costs, in calls that every implementation of version 1.4 has: the same text is
// compiled against our header and against another's. By bench_shmem.py; by hand:
//   terrane run -n 2 terrane_bench_shmem_rows init|one-sided|together
// one-sided: puts, gets and atomics of PE 0 to PE 1, beside memcpy to and from the same memory.
// together: barriers and collectives, beside bare barriers in the same memory.
#include <sched.h>
#include <shmem.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "copy_variants.h"
#include "sides.h"

using namespace terrane::bench::sides;

namespace {

int me, pes;
long sync_work[SHMEM_BCAST_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE];
long reduce_work[kSumBytes / sizeof(long) / 2 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
long static_word;
char static_block[4096];
double init_ns;

void measure_words(long* word, const char* memory) {
  static long here[2] = {1, 2};
  std::vector<Row> rows;
  rows.push_back(row("p", memory, 8, [=](long i) { shmem_long_p(word, i, 1); }));
  rows.push_back(row("g", memory, 8, [=](long) { sink = shmem_long_g(word, 1); }));
  rows.push_back(row("put-8", memory, 8, [=](long) { shmem_putmem(word, here, 8, 1); }));
  rows.push_back(row("get-8", memory, 8, [=](long) { shmem_getmem(here, word, 8, 1); }));
  rows.push_back(row("put+quiet", memory, 8, [=](long i) {
    shmem_long_p(word, i, 1);
    shmem_quiet();
  }));
  rows.push_back(
      row("fetch-add", memory, 8, [=](long) { sink = shmem_long_atomic_fetch_add(word, 1, 1); }));
  measure(rows);
}

// The floors: what the processor takes for the same on the same memory.
void measure_bare_words(long* there) {
  static long here = 1;
  unknown_bytes = 8;
  std::vector<Row> rows;
  rows.push_back(row("memcpy", "heap", 8, [=](long) { std::memcpy(there, &here, unknown_bytes); }));
  rows.push_back(row("store", "heap", 8, [=](long i) { *static_cast<volatile long*>(there) = i; }));
  rows.push_back(row("own-fetch-add", "heap", 8,
                     [=](long) { sink = __atomic_fetch_add(there, 1, __ATOMIC_SEQ_CST); }));
  measure(rows);
}

void measure_blocks(char* block, const char* memory, std::size_t most, char* here) {
  auto* there = static_cast<char*>(shmem_ptr(block, 1));
  for_each_size(most, [&](std::size_t bytes) {
    unknown_bytes = bytes;
    std::vector<Row> rows;
    if (there != nullptr) {
      rows.push_back(
          row("memcpy-to", memory, bytes, [=](long) { std::memcpy(there, here, unknown_bytes); }));
      rows.push_back(row("memcpy-from", memory, bytes,
                         [=](long) { std::memcpy(here, there, unknown_bytes); }));
    }
    rows.push_back(
        row("put", memory, bytes, [=](long) { shmem_putmem(block, here, unknown_bytes, 1); }));
    rows.push_back(
        row("get", memory, bytes, [=](long) { shmem_getmem(here, block, unknown_bytes, 1); }));
    measure(rows);
  });
}

void measure_one_sided(char* heap) {
  std::vector<char> here(kMostBytes, 1);
  if (me == 0) {
    shmem_putmem(heap, here.data(), kMostBytes, 1);
    if (void* there = shmem_ptr(heap, 1)) measure_bare_words(static_cast<long*>(there));
    measure_words(reinterpret_cast<long*>(heap), "heap");
    measure_words(&static_word, "statics");
    measure_blocks(static_block, "statics", sizeof static_block, here.data());
    measure_blocks(heap, "heap", kMostBytes, here.data());
    if (auto* there = static_cast<char*>(shmem_ptr(heap, 1))) {
      measure_copy_variants(there, here.data());
    }
  }
  shmem_barrier_all();  // where PE 1 waits
}

// Barriers made of nothing but words of the heap, a cache line each.
class BareBarrier {
 public:
  explicit BareBarrier(void* words) {
    auto at = [&](int word, int pe) {
      return static_cast<std::atomic<std::uint64_t>*>(
          shmem_ptr(static_cast<char*>(words) + 64 * word, pe));
    };
    own_ = at(0, me);
    other_ = at(0, (me + 1) % pes);
    count_ = at(1, 0);
  }
  bool possible() const { return other_ != nullptr && count_ != nullptr; }

  // Two PEs: each stores to the other's word and looks at its own.
  void pairwise() {
    other_->store(++pairs_, std::memory_order_release);
    while (own_->load(std::memory_order_acquire) < pairs_) __builtin_ia32_pause();
  }
  // All count at PE 0, and look there.
  void counted(bool yields) {
    counts_ += static_cast<std::uint64_t>(pes);
    count_->fetch_add(1, std::memory_order_acq_rel);
    while (count_->load(std::memory_order_acquire) < counts_) {
      if (yields) {
        sched_yield();
      } else {
        __builtin_ia32_pause();
      }
    }
  }

 private:
  std::atomic<std::uint64_t>*own_, *other_, *count_;
  std::uint64_t pairs_ = 0, counts_ = 0;
};

// What a sum of 1 MiB takes at least: each PE adds up its share of all sources, in pieces that stay
// in the nearest cache, and copies it to all targets; two bare barriers round it, and one after it.
class BareSum {
 public:
  explicit BareSum(char* heap) {
    for (int pe = 0; pe < pes; ++pe) {
      sources_.push_back(static_cast<const long*>(shmem_ptr(heap, pe)));
      targets_.push_back(static_cast<long*>(shmem_ptr(heap + kSumBytes, pe)));
    }
    std::size_t share = kSumBytes / sizeof(long) / static_cast<std::size_t>(pes);
    begin_ = share * static_cast<std::size_t>(me);
    end_ = begin_ + share;
  }

  void add_up() const {
    constexpr std::size_t kPiece = 1024;
    long sum[kPiece];
    for (std::size_t at = begin_; at < end_; at += kPiece) {
      std::size_t count = std::min(kPiece, end_ - at);
      std::fill_n(sum, count, 0);
      for (const long* source : sources_) {
        for (std::size_t i = 0; i < count; ++i) sum[i] += source[at + i];
      }
      for (long* target : targets_) std::memcpy(target + at, sum, count * sizeof(long));
    }
  }

 private:
  std::vector<const long*> sources_;
  std::vector<long*> targets_;
  std::size_t begin_, end_;
};

long agree(long mine) {
  static long agreed;  // symmetric
  for (int pe = 0; me == 0 && pe < pes; ++pe) shmem_long_p(&agreed, mine, pe);
  shmem_barrier_all();
  long ours = agreed;
  shmem_barrier_all();
  return ours;
}

template <typename Body>
void together(const char* name, std::size_t bytes, Body body) {
  measure_together(
      name, bytes, me == 0, body, [] { shmem_barrier_all(); }, agree);
}

// `words`: zeros.
void measure_bare(char* heap, void* words, bool crowded) {
  BareBarrier bare(words);
  if (!bare.possible()) return;
  if (pes == 2 && !crowded) together("bare-pairwise", 0, [&] { bare.pairwise(); });
  if (!crowded) together("bare-counter", 0, [&] { bare.counted(false); });
  together("bare-yielding", 0, [&] { bare.counted(true); });
  const BareSum sum(heap);
  together("bare-sum", kSumBytes, [&] {
    bare.counted(crowded);
    sum.add_up();
    bare.counted(crowded);
    bare.counted(crowded);
  });
}

// A barrier follows each collective: it keeps the work arrays apart, and is what programs do.
void measure_collectives(char* heap) {
  auto* from = reinterpret_cast<long*>(heap);
  auto* to = reinterpret_cast<long*>(heap + kSumBytes);
  for (std::size_t bytes : {std::size_t{8}, kSumBytes}) {
    std::size_t words = bytes / sizeof(long);
    together("broadcast", bytes, [&] {
      shmem_broadcast64(to, from, words, 0, 0, 0, pes, sync_work);
      shmem_barrier_all();
    });
    together("sum", bytes, [&] {
      shmem_long_sum_to_all(to, from, static_cast<int>(words), 0, 0, pes, reduce_work,
                            sync_work + SHMEM_BCAST_SYNC_SIZE);
      shmem_barrier_all();
    });
  }
}

void measure_all_together(char* heap) {
  bool crowded = pes > sysconf(_SC_NPROCESSORS_ONLN);
  std::fill(std::begin(sync_work), std::end(sync_work), long{SHMEM_SYNC_VALUE});
  std::memset(heap, 0, kMostBytes);
  shmem_barrier_all();
  measure_bare(heap, heap + kMostBytes / 2, crowded);
  shmem_barrier_all();
  if (me == 0) {
    measure_memcpy(heap + kSumBytes, heap);
  } else {
    usleep(20'000);
  }
  together("barrier_all", 0, [] { shmem_barrier_all(); });
  measure_collectives(heap);
}

// The longest of all PEs.
void tell_init(double* heap) {
  *heap = init_ns;
  shmem_barrier_all();
  if (me == 0) {
    double longest = 0;
    for (int pe = 0; pe < pes; ++pe) longest = std::max(longest, shmem_double_g(heap, pe));
    print_row("init", "none", 0, longest);
  }
  shmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view part = argc > 1 ? argv[1] : "";
  double start = now_ns();
  shmem_init();
  init_ns = now_ns() - start;
  me = shmem_my_pe();
  pes = shmem_n_pes();
  auto* heap = static_cast<char*>(shmem_malloc(part == "init" ? 4096 : kMostBytes));
  if (heap == nullptr || pes < 2) {
    std::fprintf(stderr, "shmem_rows: two PEs or more, and 64 MiB of heap\n");
    shmem_global_exit(1);
  }
  if (part == "init") tell_init(reinterpret_cast<double*>(heap));
  if (part == "one-sided") measure_one_sided(heap);
  if (part == "together") measure_all_together(heap);
  shmem_finalize();
}
