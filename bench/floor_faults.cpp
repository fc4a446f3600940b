// What page faults, scans, zaps, copies and a barrier cost on this machine without any of Terrane's
// runtime: the floors that its own figures are held against. Usage: terrane_bench_floor [rounds,
// default 15]

#include <cstdio>
#include <cstdlib>

#include "floors.h"

int main(int argc, char** argv) {
  long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 15;
  if (rounds < 1 || rounds > 10000) {
    std::fputs("usage: terrane_bench_floor [rounds, 1 to 10000; default 15]\n", stderr);
    return 2;
  }
  auto floors = terrane::bench::Floors::create();
  if (!floors) {
    std::fprintf(stderr, "terrane_bench_floor: %s\n", floors.error().message.c_str());
    return 1;
  }
  auto rows = terrane::bench::fault_rows(floors.value());
  terrane::bench::sample_interleaved(rows, static_cast<std::size_t>(rounds));
  std::printf("Bare mechanisms, one mean over a batch a sample, %ld samples each, interleaved\n",
              rounds);
  terrane::bench::print_rows(rows);
  return 0;
}
