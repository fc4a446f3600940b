// A program for the threads of the C++ library that knows nothing of Terrane; its first argument
// says what it does. Each mode prints "good" at its end, and ends with 0.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 6;
int failures = 0;
std::mutex failures_mutex;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::lock_guard hold(failures_mutex);
  std::printf("%s is wrong\n", what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition)

// Has a constructor and a destructor, which run once in the whole program.
struct Counted {
  Counted() { ++made; }
  ~Counted() { std::printf("a static object ends, %d was made\n", made); }
  std::map<std::string, int> words;
  int made = 0;
};
Counted counted;
std::mutex mutex;

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};

void run(const std::function<void(int)>& function, int threads = kThreads) {
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back(function, t);
  for (std::thread& thread : team) thread.join();
}

void containers() {
  std::vector<std::unique_ptr<Shape>> shapes(kThreads);
  run([&](int self) {
    shapes[self] = std::make_unique<Square>(self + 1);
    for (int i = 0; i < 200; ++i) {
      std::lock_guard hold(mutex);
      counted.words["word " + std::to_string(i % 50)] += 1;
    }
  });
  double area = 0;
  for (const auto& shape : shapes) area += shape->area();
  EXPECT(area == 91);
  EXPECT(counted.words.size() == 50 && counted.words["word 7"] == 4 * kThreads);
  EXPECT(counted.made == 1);
}

int& once_made() {
  static int value = [] {
    std::printf("the static of a function is made\n");
    return 41;
  }();
  return value;
}

void statics() {
  run([](int) {
    std::lock_guard hold(mutex);
    ++once_made();
  });
  EXPECT(once_made() == 41 + kThreads);
}

thread_local std::string own = "begin";

void locals() {
  std::vector<std::string> seen(kThreads);
  run([&](int self) {
    own += std::to_string(self);
    seen[self] = own;
  });
  for (int t = 0; t < kThreads; ++t) EXPECT(seen[t] == "begin" + std::to_string(t));
}

void exceptions() {
  std::vector<std::string> caught(kThreads);
  run([&](int self) {
    try {
      throw std::runtime_error("thrown by " + std::to_string(self));
    } catch (const std::exception& error) {
      caught[self] = error.what();
    }
  });
  for (int t = 0; t < kThreads; ++t) EXPECT(caught[t] == "thrown by " + std::to_string(t));
}

// The end of a cancelled thread destroys what lies on its stack, and goes through every catch (...)
// that throws on.
void cancelled() {
  struct Counts {
    int& count;
    ~Counts() { ++count; }
  };
  std::vector<int> destroyed(kThreads), passed(kThreads);
  std::vector<std::thread> team;
  for (int t = 0; t < kThreads; ++t) {
    team.emplace_back([&, t] {
      Counts outer{destroyed[t]};
      try {
        Counts inner{destroyed[t]};
        std::string text(100, 'x');
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1000));
      } catch (...) {
        ++passed[t];
        throw;
      }
    });
  }
  for (std::thread& thread : team) EXPECT(pthread_cancel(thread.native_handle()) == 0);
  for (std::thread& thread : team) thread.join();
  for (int t = 0; t < kThreads; ++t) EXPECT(passed[t] == 1 && destroyed[t] == 2);
}

// Ends with a sentence.
void swallowed() {
  std::thread thread([] {
    try {
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1000));
    } catch (...) {
    }
  });
  pthread_cancel(thread.native_handle());
  thread.join();
}

void queue() {
  std::deque<int> items;
  std::condition_variable ready;
  bool done = false;
  long sum = 0;
  std::vector<std::thread> team;
  for (int t = 0; t < kThreads; ++t) {
    team.emplace_back([&] {
      std::unique_lock hold(mutex);
      for (;;) {
        ready.wait(hold, [&] { return done || !items.empty(); });
        if (items.empty()) return;
        sum += items.front();
        items.pop_front();
      }
    });
  }
  for (int i = 1; i <= 1000; ++i) {
    std::lock_guard hold(mutex);
    items.push_back(i);
    ready.notify_one();
  }
  {
    std::lock_guard hold(mutex);
    done = true;
    ready.notify_all();
  }
  for (std::thread& thread : team) thread.join();
  EXPECT(sum == 500500);
}

void locks() {
  std::shared_mutex shared;
  std::recursive_mutex recursive;
  std::timed_mutex timed;
  std::once_flag flag;
  int value = 0, called = 0, nested = 0;
  run([&](int) {
    std::call_once(flag, [&] { ++called; });
    for (int i = 0; i < 30; ++i) {
      {
        std::unique_lock hold(shared);
        ++value;
      }
      std::shared_lock hold(shared);
      EXPECT(value > 0);
    }
    std::lock_guard outer(recursive);
    std::lock_guard inner(recursive);
    ++nested;
    if (timed.try_lock_for(std::chrono::seconds(20))) timed.unlock();
  });
  EXPECT(value == 30 * kThreads && called == 1 && nested == kThreads);
}

void streams() {
  run([](int self) { std::cout << "thread " + std::to_string(self) + " writes\n" << std::flush; });
}

}  // namespace

int main(int argc, char** argv) {
  const std::pair<const char*, void (*)()> modes[] = {
      {"containers", containers}, {"statics", statics},     {"locals", locals},
      {"exceptions", exceptions}, {"queue", queue},         {"locks", locks},
      {"streams", streams},       {"cancelled", cancelled}, {"swallowed", swallowed}};
  std::string mode = argc > 1 ? argv[1] : "";
  for (auto [name, function] : modes)
    if (mode == name) function();
  if (failures == 0) std::cout << "good\n";
  return failures == 0 ? 0 : 1;
}
