// A program of pages for bench_memory.py: node 0 fills a region, each node reads all of it.
//   terrane run -n 2 terrane_bench_memory_pages_rows MIB
#include <terrane/pages.h>

#include "words.h"

namespace {

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "memory_pages_rows: %s: %s\n", what, terrane_error());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (terrane_init() != TERRANE_OK) die("terrane_init");
  std::size_t bytes = words::number(argc, argv, 1, 1) << 20, count = bytes / sizeof(std::uint64_t);
  auto* memory = static_cast<std::uint64_t*>(terrane_alloc_all(bytes, nullptr));
  if (memory == nullptr) die("terrane_alloc_all");
  words::Watch watch;
  if (terrane_node() == 0) {
    words::fill(memory, 0, count);
    watch.lap("fill");
  }
  terrane_barrier();
  std::uint64_t wrong = words::sweep(memory, 0, count);
  terrane_barrier_reduce(1, 1, TERRANE_SUM, TERRANE_UINT64, &wrong, &wrong, 1);
  int code = wrong == 0 ? 0 : 1;
  if (terrane_node() == 0) {
    watch.lap("sweep");
    words::verdict(wrong);
  }
  terrane_finalize();
  return code;
}
