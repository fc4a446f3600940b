#include "frontend/threads/node_memory.h"

#include <sys/mman.h>

#include <mutex>

#include "frontend/threads/program.h"
#include "runtime/program/arena.h"

namespace terrane::frontend::threads::node_memory {
namespace {

struct alignas(16) Header {
  std::size_t bytes;  // with the header
};

struct Place {
  std::mutex mutex;
  runtime::Arena arena;
  bool is_mapped = false;
};

Place& place() {
  static auto* one = new Place();
  return *one;
}

// Under the lock.
void map(Place& place) {
  place.is_mapped = true;
  auto at = kBase + Program::get()->self() * kBytes;
  void* mapped = ::mmap(reinterpret_cast<void*>(at), kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped != MAP_FAILED) place.arena.add(at, kBytes);
}

Header* header_of(const void* block) { return static_cast<Header*>(const_cast<void*>(block)) - 1; }

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes > kBytes / 2) return nullptr;
  bytes = (bytes + sizeof(Header) + runtime::Arena::kGrain - 1) / runtime::Arena::kGrain *
          runtime::Arena::kGrain;
  std::lock_guard hold(place().mutex);
  if (!place().is_mapped) map(place());
  auto begin = place().arena.take(bytes);
  if (!begin) return nullptr;
  auto* header = reinterpret_cast<Header*>(*begin);
  header->bytes = bytes;
  return header + 1;
}

void free(void* block) {
  Header* header = header_of(block);
  std::lock_guard hold(place().mutex);
  place().arena.give_back(reinterpret_cast<std::uintptr_t>(header), header->bytes);
}

std::size_t bytes_of(const void* block) { return header_of(block)->bytes - sizeof(Header); }

}  // namespace terrane::frontend::threads::node_memory
