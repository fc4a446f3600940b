// The basic costs of Omni/SCASH ("Cluster-enabled OpenMP for software distributed shared memory
// systems", the section on the network's basic performance), as it defined them: what a page costs
// that is written and brought home by a barrier, and what a barrier adds to reading. Prints rows of
// key=value pairs at node 0; times in nanoseconds, medians.
//
//   terrane run -n 4 terrane_bench_scash_rows [--rounds N]
#include <terrane/pages.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "platform/wait.h"

namespace {

using terrane::platform::now_ns;

constexpr std::size_t kPageInts = 4096 / sizeof(int);
constexpr std::size_t kPages = 8;  // 32 KiB, and of each of 8 parts of 256 KiB

int* allocate(std::size_t pages, terrane_homes homes, std::uint32_t home) {
  terrane_alloc_options options{homes, home, "scash"};
  auto* memory = static_cast<int*>(terrane_alloc_all(pages * 4096, &options));
  if (memory != nullptr) return memory;
  std::fprintf(stderr, "terrane_bench_scash_rows: %s\n", terrane_error());
  std::exit(1);
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

// The master writes each element of an array whose homes are elsewhere: from the first write to the
// end of the barrier.
double page_transmission(int rounds) {
  auto last = static_cast<std::uint32_t>(terrane_nodes() - 1);
  int* array = allocate(kPages, TERRANE_HOMES_EXPLICIT, last);
  std::vector<double> samples;
  for (int round = 0; round < rounds; ++round) {
    terrane_barrier();
    auto begin = now_ns();
    if (terrane_node() == 0)
      for (std::size_t i = 0; i < kPages * kPageInts; ++i) array[i] = round + static_cast<int>(i);
    terrane_barrier();
    samples.push_back(static_cast<double>(now_ns() - begin) / kPages);
    if (array[kPages * kPageInts - 1] != round + static_cast<int>(kPages * kPageInts) - 1)
      std::exit(1);
  }
  return median(samples);
}

// The others read blocks that are mapped to the master. Nothing is written, so the barrier carries
// no notices.
double reading(int rounds, bool barrier) {
  int* array = allocate(kPages * 8, TERRANE_HOMES_BLOCK, 0);
  std::vector<double> samples;
  long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    terrane_barrier();
    auto begin = now_ns();
    if (terrane_node() != 0)
      for (std::size_t i = 0; i < kPages * kPageInts; ++i) sum += array[i];
    asm volatile("" ::"r"(sum) : "memory");
    if (barrier) terrane_barrier();
    samples.push_back(static_cast<double>(now_ns() - begin));
  }
  terrane_barrier();
  return median(samples);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 200;
  if (argc == 3 && std::strcmp(argv[1], "--rounds") == 0) rounds = std::atoi(argv[2]);
  if (terrane_init() != TERRANE_OK || rounds < 1) return 1;
  double page = page_transmission(rounds);
  double with = reading(rounds, true);
  double without = reading(rounds, false);
  // The master reads nothing: what it waits is the others' reading and the barrier.
  if (terrane_node() == 0) std::printf("row=page ns=%.1f\n", page);
  if (terrane_node() == terrane_nodes() - 1)
    std::printf("row=reading with_barrier=%.1f without=%.1f\n", with, without);
  return terrane_finalize() == TERRANE_OK ? 0 : 1;
}
