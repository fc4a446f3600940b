// The same with atomics, which are calls where this is compiled with -fno-inline-atomics: counters,
// flags, shared_ptr. Prints "good" at its end, and ends with 0.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 6;
std::atomic<int> failures{0};
std::atomic<long> sum{0};
std::atomic<bool> flag{false};
std::atomic<std::int16_t> small{0};

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s is wrong\n", what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition)

}  // namespace

int main() {
  auto shared = std::make_shared<std::vector<int>>(100, 1);
  std::vector<std::thread> team;
  for (int t = 0; t < kThreads; ++t) {
    team.emplace_back([self = t, shared] {
      for (int i = 0; i < 200; ++i) {
        sum.fetch_add(self, std::memory_order_relaxed);
        ++small;
      }
      if (self == 0) flag = true;
      while (!flag) std::this_thread::yield();
    });
  }
  for (std::thread& thread : team) thread.join();
  EXPECT(sum == 200 * 15 && small == 200 * kThreads && shared.use_count() == 1);
  if (failures == 0) std::puts("good");
  return failures == 0 ? 0 : 1;
}
