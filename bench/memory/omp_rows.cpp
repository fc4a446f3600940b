// An OpenMP program for bench_memory.py: the first thread fills an array, all threads read it.
//   terrane_bench_memory_omp_rows MIB
#include <memory>

#include "words.h"

int main(int argc, char** argv) {
  std::size_t count = (words::number(argc, argv, 1, 1) << 20) / sizeof(std::uint64_t);
  auto* memory = static_cast<std::uint64_t*>(std::malloc(count * sizeof(std::uint64_t)));
  if (memory == nullptr) return 2;
  words::Watch watch;
  words::fill(memory, 0, count);
  watch.lap("fill");
  std::size_t wrong = 0, blocks = count / words::kPageWords;
#pragma omp parallel for reduction(+ : wrong)
  for (std::size_t block = 0; block < blocks; ++block)
    wrong += words::sweep(memory, block * words::kPageWords, (block + 1) * words::kPageWords);
  watch.lap("sweep");
  wrong += words::sweep(memory, 0, count);
  watch.lap("main");
  std::free(memory);
  return words::verdict(wrong);
}
