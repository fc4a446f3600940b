// Waits with a time limit. Says "good" on every node, or what went wrong. For two nodes or more.
#include <chrono>

#include "program.h"

using namespace terrane::pages_test;

namespace {

constexpr std::uint64_t kMs = 1'000'000, kLong = ~0ull;

// Whether the call ended by its time limit, and not before it.
template <typename Call>
bool is_late(Call call) {
  auto from = std::chrono::steady_clock::now();
  bool late = call(50 * kMs) == TERRANE_ETIMEDOUT && error_says("in time");
  return late && std::chrono::steady_clock::now() - from >= std::chrono::milliseconds(50);
}

// While node 0 holds or withholds everything.
void wait_in_vain() {
  EXPECT(is_late([](std::uint64_t ns) { return terrane_lock_for(1, ns); }));
  EXPECT(is_late([](std::uint64_t ns) { return terrane_counter_wait_for(2, 3, ns); }));
  EXPECT(is_late([](std::uint64_t ns) { return terrane_flag_wait_for(3, ns); }));
  EXPECT(is_late([](std::uint64_t ns) { return terrane_semaphore_wait_for(4, ns); }));
  EXPECT(terrane_lock_for(1, 0) == TERRANE_ETIMEDOUT);
  EXPECT(terrane_flag_wait_for(3, 0) == TERRANE_ETIMEDOUT);
  EXPECT(terrane_semaphore_wait_for(4, 0) == TERRANE_ETIMEDOUT);
}

// What node 0 wrote before is seen by those that went on.
void wait_with_success(const int* data) {
  EXPECT(terrane_counter_wait_for(2, 3, kLong) == TERRANE_OK);
  EXPECT(at(data, 0) == 7);
  EXPECT(terrane_flag_wait_for(3, kLong) == TERRANE_OK);
  EXPECT(at(data, 1024) == 8);
  EXPECT(terrane_semaphore_wait_for(4, kLong) == TERRANE_OK);
  EXPECT(at(data, 2048) == 9);
  EXPECT(terrane_lock_for(1, kLong) == TERRANE_OK);
  EXPECT(at(data, 3072) == 10);
  EXPECT(terrane_lock_for(1, kLong) == TERRANE_EINVAL && error_says("not recursive"));
  EXPECT(terrane_unlock(1) == TERRANE_OK);
}

}  // namespace

int main() {
  EXPECT(terrane_init() == TERRANE_OK);
  int* data = allocate_all<int>(4096);
  bool first = terrane_node() == 0;
  if (first) EXPECT(terrane_lock_for(1, 0) == TERRANE_OK);
  EXPECT(terrane_barrier() == TERRANE_OK);
  if (!first) wait_in_vain();
  EXPECT(terrane_barrier() == TERRANE_OK);
  if (first) {
    data[0] = 7;
    EXPECT(terrane_counter_fetch(2, TERRANE_COUNTER_SET, 3, nullptr) == TERRANE_OK);
    data[1024] = 8;
    EXPECT(terrane_flag_set(3) == TERRANE_OK);
    data[2048] = 9;
    EXPECT(terrane_semaphore_post(4, static_cast<std::uint32_t>(terrane_nodes())) == TERRANE_OK);
    data[3072] = 10;
    EXPECT(terrane_unlock(1) == TERRANE_OK);
  } else {
    wait_with_success(data);
  }
  EXPECT(terrane_finalize() == TERRANE_OK);
  std::puts("good");
  return 0;
}
