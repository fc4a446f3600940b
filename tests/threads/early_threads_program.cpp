// Uses libraries whose constructors start threads. Prints "good". Arguments: "asked", a library of
// the program; "sums", one that each node has for itself; "sums FILE", the same, opened later.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

extern "C" int ask(int number);
extern "C" int end_early_threads();
extern "C" double sum_by_workers(const double* numbers, int count);

namespace {

constexpr int kThreads = 4, kRounds = 20;

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

void in_threads(void (*function)(int)) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(function, t);
  for (std::thread& one : threads) one.join();
}

pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
double (*sums)(const double*, int) = sum_by_workers;
std::vector<double> numbers(100'000);

void ask_often(int thread) {
  for (int i = 1; i <= kRounds; ++i) {
    pthread_mutex_lock(&turn);
    int number = 1 + i * kThreads + thread;
    require(ask(number) == 2 * number, "an answer");
    pthread_mutex_unlock(&turn);
  }
}

// Each thread changes its part of the numbers, which its node's workers read then.
void sum_often(int thread) {
  int each = static_cast<int>(numbers.size()) / kThreads;
  double* own = numbers.data() + thread * each;
  for (int i = 1; i <= kRounds; ++i) {
    for (int k = 0; k < each; ++k) own[k] = i + k % 3;
    double expected = 0;
    for (int k = 0; k < each; ++k) expected += own[k];
    require(sums(own, each) == expected, "a sum");
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "";
  if (what == "asked") {
    in_threads(ask_often);
  } else if (what == "sums") {
    if (argc > 2) {
      void* library = dlopen(argv[2], RTLD_NOW);
      require(library != nullptr, "dlopen");
      sums = reinterpret_cast<double (*)(const double*, int)>(dlsym(library, "sum_by_workers"));
    }
    in_threads(sum_often);
  }
  require(end_early_threads() == 1, "what early threads did");
  std::puts("good");
}
