#include "scale/memory_count.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace terrane::bench::scale {

std::uint32_t MemoryCount::worker = kNobody;
std::int64_t MemoryCount::bytes[kMost] = {};
std::int64_t MemoryCount::most[kMost] = {};

void MemoryCount::clear() {
  std::fill(bytes, bytes + kMost, 0);
  std::fill(most, most + kMost, 0);
}

namespace {

struct alignas(16) Head {
  std::size_t bytes;
  std::uint32_t worker;
};

void* allocate(std::size_t bytes) {
  auto* head = static_cast<Head*>(std::malloc(sizeof(Head) + bytes));
  if (head == nullptr) throw std::bad_alloc();
  *head = {bytes, MemoryCount::worker};
  if (head->worker != MemoryCount::kNobody) {
    std::int64_t& now = MemoryCount::bytes[head->worker];
    std::int64_t& most = MemoryCount::most[head->worker];
    now += static_cast<std::int64_t>(bytes);
    if (now > most) most = now;
  }
  return head + 1;
}

void release(void* memory) {
  if (memory == nullptr) return;
  Head* head = static_cast<Head*>(memory) - 1;
  if (head->worker != MemoryCount::kNobody)
    MemoryCount::bytes[head->worker] -= static_cast<std::int64_t>(head->bytes);
  std::free(head);
}

}  // namespace
}  // namespace terrane::bench::scale

void* operator new(std::size_t bytes) { return terrane::bench::scale::allocate(bytes); }
void operator delete(void* memory) noexcept { terrane::bench::scale::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { terrane::bench::scale::release(memory); }
