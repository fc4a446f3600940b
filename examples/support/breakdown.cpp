#include "support/breakdown.h"

#include <cstdio>

namespace example {
namespace {

constexpr double kSecondsPerNs = 1e-9;

void print_part(std::uint64_t part_ns, std::uint64_t all_ns) {
  const double share =
      all_ns > 0 ? 100.0 * static_cast<double>(part_ns) / static_cast<double>(all_ns) : 0;
  std::printf(" %7.3f s %3.0f %%", static_cast<double>(part_ns) * kSecondsPerNs, share);
}

}  // namespace

terrane_counters spent_between(const terrane_counters& before, const terrane_counters& after) {
  terrane_counters spent{};
  spent.pages_fetched = after.pages_fetched - before.pages_fetched;
  spent.fetch_ns = after.fetch_ns - before.fetch_ns;
  spent.lock_ns = after.lock_ns - before.lock_ns;
  spent.barrier_ns = after.barrier_ns - before.barrier_ns;
  spent.handler_ns = after.handler_ns - before.handler_ns;
  spent.overhead_ns = after.overhead_ns - before.overhead_ns;
  spent.elapsed_ns = after.elapsed_ns - before.elapsed_ns;
  return spent;
}

void print_breakdown(const terrane_counters* nodes, int count, std::uint32_t threads) {
  std::printf("\nnode  %15s %15s %15s %15s %15s %15s  pages fetched\n", "computation", "page fetch",
              "lock", "barrier", "handler", "overhead");
  for (int node = 0; node < count; ++node) {
    const terrane_counters& c = nodes[node];
    const std::uint64_t all = c.elapsed_ns * threads;
    const std::uint64_t waits =
        c.fetch_ns + c.lock_ns + c.barrier_ns + c.handler_ns + c.overhead_ns;
    std::printf("%4d ", node);
    print_part(all > waits ? all - waits : 0, all);
    print_part(c.fetch_ns, all);
    print_part(c.lock_ns, all);
    print_part(c.barrier_ns, all);
    print_part(c.handler_ns, all);
    print_part(c.overhead_ns, all);
    std::printf("  %13llu\n", static_cast<unsigned long long>(c.pages_fetched));
  }
}

}  // namespace example
