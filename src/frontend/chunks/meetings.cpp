// Locks, barriers and signals of <terrane/chunks.h>.
#include <terrane/chunks.h>

#include "frontend/chunks/process.h"

namespace {

using namespace terrane::frontend::chunks;
using terrane::runtime::chunks::OpenScope;

Outcome check(const char* name, int64_t timeout_ns) {
  if (name == nullptr) return {Status::kInvalid, "name is NULL"};
  if (timeout_ns < -1) return {Status::kInvalid, fmt::format("a timeout of {} ns", timeout_ns)};
  return {};
}

}  // namespace

extern "C" {

int terrane_chunk_lock(const char* name, int64_t timeout_ns, terrane_scope* lock) noexcept {
  return with_node("terrane_chunk_lock", [&](ChunkNode&) -> Outcome {
    if (Outcome good = check(name, timeout_ns); !good.ok()) return good;
    if (lock == nullptr) return {Status::kInvalid, "lock is NULL"};
    OpenScope open;
    Outcome outcome = meetings().lock(name, timeout_ns, open);
    if (outcome.ok()) *lock = to_scope(open);
    return outcome;
  });
}

int terrane_chunk_barrier(const char* name, uint32_t count, int64_t timeout_ns) noexcept {
  return with_node("terrane_chunk_barrier", [&](ChunkNode&) -> Outcome {
    if (Outcome good = check(name, timeout_ns); !good.ok()) return good;
    return meetings().barrier(name, count, timeout_ns);
  });
}

int terrane_chunk_signal(const char* name, uint64_t* now) noexcept {
  return with_node("terrane_chunk_signal", [&](ChunkNode&) -> Outcome {
    if (Outcome good = check(name, 0); !good.ok()) return good;
    std::uint64_t count = 0;
    Outcome outcome = meetings().signal(name, count);
    if (outcome.ok() && now != nullptr) *now = count;
    return outcome;
  });
}

int terrane_chunk_await(const char* name, uint64_t count, int64_t timeout_ns,
                        uint64_t* now) noexcept {
  return with_node("terrane_chunk_await", [&](ChunkNode&) -> Outcome {
    if (Outcome good = check(name, timeout_ns); !good.ok()) return good;
    std::uint64_t seen = 0;
    Outcome outcome = meetings().await(name, count, timeout_ns, seen);
    if (outcome.ok() && now != nullptr) *now = seen;
    return outcome;
  });
}

}  // extern "C"
