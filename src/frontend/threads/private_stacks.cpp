#include "frontend/threads/private_stacks.h"

#include <sys/mman.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"
#include "platform/page_size.h"

namespace terrane::frontend::threads::private_stacks {
namespace {

constexpr std::uintptr_t kBase = std::uintptr_t{4} << 44;
constexpr std::uintptr_t kPart = std::uintptr_t{4} << 30;  // of a node

struct Place {
  struct Ended {
    pthread_t thread;
    void* stack;
  };
  std::mutex mutex;
  std::uintptr_t used = 0;
  std::vector<void*> idle;
  std::vector<Ended> ended;
};

Place& place() {
  static auto* one = new Place();
  return *one;
}

// Under the lock. The lowest page is a guard.
void* map(Place& place) {
  if (place.used + bytes() > kPart) return nullptr;
  std::uintptr_t at = kBase + Program::get()->self() * kPart + place.used;
  void* stack =
      ::mmap(reinterpret_cast<void*>(at), bytes(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
  if (stack == MAP_FAILED) return nullptr;
  place.used += bytes();
  ::mprotect(stack, platform::page_bytes(), PROT_NONE);
  return stack;
}

}  // namespace

std::size_t bytes() {
  static const std::size_t all = [] {
    std::size_t sum = std::size_t{1} << 20;
    for (const ThreadLocals& one : Program::get()->first_thread_locals()) sum += one.bytes;
    std::size_t page = platform::page_bytes();
    return (sum + page - 1) / page * page;
  }();
  return all;
}

void* take() {
  auto* try_join = next<"pthread_tryjoin_np">(::pthread_tryjoin_np);
  std::lock_guard hold(place().mutex);
  std::erase_if(place().ended, [&](const Place::Ended& one) {
    bool has_left = try_join(one.thread, nullptr) == 0;
    if (has_left) place().idle.push_back(one.stack);
    return has_left;
  });
  if (place().idle.empty()) return map(place());
  void* stack = place().idle.back();
  place().idle.pop_back();
  return stack;
}

void give_back(pthread_t thread, void* stack) {
  std::lock_guard hold(place().mutex);
  place().ended.push_back({thread, stack});
}

void give_back(void* stack) {
  std::lock_guard hold(place().mutex);
  place().idle.push_back(stack);
}

}  // namespace terrane::frontend::threads::private_stacks
