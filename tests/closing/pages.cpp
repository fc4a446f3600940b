#include <terrane/pages.h>

#include <cstdlib>

#include "front_end.h"

namespace {

constexpr long kLongs = 1 << 16;

}  // namespace

void begin() {
  if (terrane_init() != TERRANE_OK) std::abort();
}

// Pages that are fetched, claimed and freed.
bool works(int round) {
  auto* data = static_cast<long*>(terrane_alloc_all(kLongs * sizeof(long), nullptr));
  auto* sum = static_cast<long*>(terrane_alloc_all(sizeof(long), nullptr));
  if (data == nullptr || sum == nullptr) return false;
  const int node = terrane_node(), nodes = terrane_nodes();
  for (long i = node; i < kLongs; i += nodes) data[i] = i + round;
  terrane_barrier();
  bool good = true;
  for (long i = 0; i < kLongs; ++i) good = good && data[i] == i + round;
  terrane_lock(1);
  *sum += good ? 1 : 0;
  terrane_unlock(1);
  terrane_barrier();
  good = *sum == nodes;
  terrane_barrier();
  if (node == 0) {
    terrane_free(data);
    terrane_free(sum);
  }
  terrane_barrier();
  return good;
}

void end() { terrane_finalize(); }
