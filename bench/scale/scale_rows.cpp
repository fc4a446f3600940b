// What a job of many nodes would take, in virtual time (machine.h): rows "pattern=NAME nodes=N
// us=T messages=M bytes=B faults=F pages=P busiest=R memory=S known=K", and for programs
// "speedup=X". By bench_scale.py and bench_omp.py.
//
//   terrane_bench_scale_rows PATTERN NODES [COUNTED ITERATIONS [PREDICTION]]
#include <cstdio>
#include <cstdlib>

#include "scale/machine.h"
#include "scale/memory_count.h"

int main(int argc, char** argv) {
  using namespace terrane::bench::scale;
  auto pattern = argc >= 3 ? make_pattern(argv[1]) : nullptr;
  auto nodes = argc >= 3 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 0;
  auto counted = argc >= 4 ? static_cast<std::uint32_t>(std::atoi(argv[3])) : 8;
  if (!pattern || nodes < 2 || nodes > MemoryCount::kMost || counted == 0) {
    std::fprintf(stderr,
                 "terrane_bench_scale_rows barrier|stencil|transpose|tree|update|broadcast|"
                 "migratory|producer|sweep|downwards|master|scatter|laplace|ep|bt|sp NODES (2 to "
                 "%u) [ITERATIONS "
                 "[PREDICTION]]\n",
                 MemoryCount::kMost);
    return 2;
  }
  auto prediction = terrane::protocol::parse_prediction(argc >= 5 ? argv[4] : "");
  if (!prediction) {
    std::fprintf(stderr, "terrane_bench_scale_rows: %s\n", prediction.error().message.c_str());
    return 2;
  }
  constexpr std::uint32_t kWarm = 8;
  Machine machine(nodes, *pattern, Costs{}, prediction.value());
  Result r = machine.run(kWarm, counted);
  std::printf(
      "pattern=%s nodes=%u us=%.1f messages=%.1f bytes=%.0f faults=%.2f pages=%.2f busiest=%.1f "
      "memory=%lld known=%llu",
      argv[1], nodes, static_cast<double>(r.per_iteration) / 1000, r.messages, r.bytes, r.faults,
      r.fetched, r.most_received, static_cast<long long>(r.most_memory),
      static_cast<unsigned long long>(r.most_entries));
  if (pattern->computing() != 0)
    std::printf(" speedup=%.2f",
                static_cast<double>(pattern->computing()) / static_cast<double>(r.per_iteration));
  std::printf("\n");
}
