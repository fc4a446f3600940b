#include <terrane/chunks.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "front_end.h"

void begin() {
  if (terrane_chunks_init() != TERRANE_OK) std::abort();
}

// A counter that all nodes count up.
bool works(int round) {
  const std::string name = "counter " + std::to_string(round);
  terrane_chunk chunk;
  if (terrane_chunk_create(name.c_str(), 1 << 16, TERRANE_CHUNK_INVALIDATE, &chunk, nullptr) < 0)
    return false;
  const auto nodes = static_cast<std::uint32_t>(terrane_chunks_nodes());
  terrane_scope scope;
  auto count = [&](long more) {
    if (terrane_chunk_open(chunk, more != 0 ? TERRANE_CHUNK_READ_WRITE : TERRANE_CHUNK_READ,
                           TERRANE_FOREVER, &scope) < 0)
      return -1L;
    auto* here = static_cast<long*>(scope.data);
    if (more != 0) *here += more;
    long now = *here;
    terrane_chunk_release(&scope);
    return now;
  };
  for (int i = 0; i < 100; ++i)
    if (count(1) < 0) return false;
  if (terrane_chunk_barrier(name.c_str(), nodes, TERRANE_FOREVER) < 0) return false;
  return count(0) == 100L * nodes;
}

void end() { terrane_chunks_finalize(); }
