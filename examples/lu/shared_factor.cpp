#include "shared_factor.h"

#include <string>

#include "factor.h"
#include "support/breakdown.h"
#include "support/workers.h"

namespace lu {

Outcome<SharedMatrix> allocate_shared(std::uint32_t size, std::uint32_t threads) {
  const auto nodes = static_cast<std::uint32_t>(terrane_nodes());
  SharedMatrix shared;
  shared.shape.size = size;
  shared.counters =
      static_cast<terrane_counters*>(terrane_alloc_all(nodes * sizeof(terrane_counters), nullptr));
  bool ok = shared.counters != nullptr;
  for (std::uint32_t k = 0; ok && k < shared.shape.panels(); ++k) {
    terrane_alloc_options options{};
    options.homes = TERRANE_HOMES_EXPLICIT;
    options.home = k / threads % nodes;
    options.name = "panel";
    void* const memory = terrane_alloc_all(shared.shape.panel_bytes(), &options);
    ok = memory != nullptr;
    if (ok) shared.panels.push_back(shared.shape.panel_at(memory));
  }
  if (!ok) return Failure{std::string("no shared memory for the matrix: ") + terrane_error()};
  return shared;
}

std::uint64_t factor_shared(const SharedMatrix& shared, std::uint32_t threads) {
  const auto node = static_cast<std::uint32_t>(terrane_node());
  const std::uint32_t workers = static_cast<std::uint32_t>(terrane_nodes()) * threads;
  std::uint64_t singular = 0;  // every worker finds the same; the calling thread's is returned
  terrane_counters before{};
  terrane_counters after{};
  terrane_read_counters(&before);
  example::run_threads(threads, [&](std::uint32_t thread) {
    const Share share{node * threads + thread, workers};
    const std::uint64_t found =
        factor(shared.shape, shared.panels, share, [&] { example::workers_barrier(threads); });
    if (thread == 0) singular = found;
  });
  terrane_read_counters(&after);
  shared.counters[node] = example::spent_between(before, after);
  return singular;
}

}  // namespace lu
