// `std::future` and `std::promise`, whose atomics are calls but for a std::atomic_flag. Prints
// "good" at its end, and ends with 0.
#include <cstdio>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s is wrong\n", what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition)

}  // namespace

int main() {
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 6; ++i)
    answers.push_back(
        std::async(std::launch::async, [i] { return "answer " + std::to_string(i); }));
  for (int i = 0; i < 6; ++i) EXPECT(answers[i].get() == "answer " + std::to_string(i));
  std::promise<std::string> promise;
  std::thread writer([&] { promise.set_value("from another thread"); });
  EXPECT(promise.get_future().get() == "from another thread");
  writer.join();
  std::promise<int> late;
  std::vector<std::thread> team;
  for (int t = 0; t < 4; ++t)
    team.emplace_back([&, t] {
      if (t == 3) late.set_value_at_thread_exit(7);  // of the C++ library's own list of each node
    });
  EXPECT(late.get_future().get() == 7);
  for (std::thread& one : team) one.join();
  auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("why"); });
  try {
    failing.get();
    EXPECT(false);
  } catch (const std::runtime_error& error) {
    EXPECT(std::string(error.what()) == "why");
  }
  if (failures == 0) std::puts("good");
  return failures == 0 ? 0 : 1;
}
